"""From words to planned batches of tokens and back: how a token runtime is asked in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.core.model import Model, Outcome, Request
from assay.models.anatomy import Anatomy
from assay.models.plan import plan_batches
from assay.models.render import Rendered, Renderer
from assay.models.runtime import Conversation
from assay.models.text import Answer, Score


class PlannedEngine:
    """Renders, plans, executes and decodes, as the collector does.

    Parameters
    ----------
    runtime : Model
        Answers token requests.
    renderer : Renderer
        The model's tokenizer and chat template.
    token_budget : int
        Most padded tokens that one batch forwards.
    anatomy : callable
        Discovers the parts of the loaded model.
    """

    def __init__(
        self,
        runtime: Model,
        renderer: Renderer,
        *,
        token_budget: int,
        anatomy: Callable[[], Anatomy],
    ):
        self.runtime = runtime
        self.renderer = renderer
        self._token_budget = token_budget
        self._anatomy = anatomy

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Answer]:
        """Continue texts as they are."""
        return self._say(list(map(self.renderer.render_plain, prompts)), max_new_tokens)

    def chat(self, conversations: Sequence[Conversation], max_new_tokens: int) -> list[Answer]:
        """Apply the chat template once to each conversation and answer it."""
        return self._say(list(map(self.renderer.render_chat, conversations)), max_new_tokens)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Score]:
        """Score pairs; continuations of one context share its computation."""
        tokens = [self.renderer.encode_pair(*pair) for pair in pairs]
        requests = [
            Request(f"pair {n}", context, pair.context_ids, pair.continuation_ids)
            for n, (pair, (context, _)) in enumerate(zip(tokens, pairs, strict=True))
        ]
        found = self._ask(requests, 0)
        return [
            Score(o.logprobs, o.status, boundary=pair.boundary, detail=o.detail)
            for o, pair in zip(found, tokens, strict=True)
        ]

    def anatomy(self) -> Anatomy:
        """Discover the parts of the loaded model."""
        return self._anatomy()

    def _say(self, rendered: Sequence[Rendered], max_new_tokens: int) -> list[Answer]:
        names = [f"prompt {n}" for n in range(len(rendered))]
        requests = [
            Request(name, name, prompt.token_ids)
            for name, prompt in zip(names, rendered, strict=True)
        ]
        found = self._ask(requests, max_new_tokens)
        return [
            Answer(self.renderer.decode(o.token_ids), prompt.text, o.status, o.finish, o.detail)
            for o, prompt in zip(found, rendered, strict=True)
        ]

    def _ask(self, requests: Sequence[Request], max_new_tokens: int) -> list[Outcome]:
        plan = plan_batches(requests, token_budget=self._token_budget, new_tokens=max_new_tokens)
        by_id = {
            outcome.id: outcome
            for batch in plan
            for outcome in self.runtime.execute(batch, max_new_tokens=max_new_tokens)
        }
        return [by_id[request.id] for request in requests]
