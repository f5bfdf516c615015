"""From words to planned batches of tokens and back: how a token runtime is asked in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from assay.core.model import Batch, Model, Outcome, Request
from assay.models.anatomy import Anatomy
from assay.models.plan import plan_batches
from assay.models.render import Rendered
from assay.models.runtime import Conversation
from assay.models.text import Answer, Score
from assay.models.words import Prompter


class Plan(Protocol):
    """Cuts requests into batches, as `plan_batches` does."""

    def __call__(
        self, requests: Sequence[Request], *, token_budget: int, new_tokens: int
    ) -> list[Batch]:
        """Return every request in one batch."""


class PlannedEngine:
    """Renders, plans, executes and decodes, as the collector does.

    Parameters
    ----------
    runtime : Model
        Answers requests.
    renderer : Renderer or WordRenderer
        The model's tokenizer and chat template, or what says words to a server.
    token_budget : int
        Most padded tokens that one batch forwards.
    anatomy : callable
        Discovers the parts of the loaded model.
    plan : callable
        How the runtime wants its batches.
    close : callable, optional
        Gives back what the runtime holds.
    """

    def __init__(
        self,
        runtime: Model,
        renderer: Prompter,
        *,
        token_budget: int,
        anatomy: Callable[[], Anatomy],
        plan: Plan = plan_batches,
        close: Callable[[], None] | None = None,
    ):
        self.runtime = runtime
        self.renderer = renderer
        self._token_budget = token_budget
        self._anatomy = anatomy
        self._plan = plan
        self._close = close

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
            Request(f"pair {n}", context, pair.context_ids, pair.continuation_ids, pair.words)
            for n, (pair, (context, _)) in enumerate(zip(tokens, pairs, strict=True))
        ]
        found = self._ask(requests, 0)
        return [
            Score(o.logprobs, o.status, boundary=pair.boundary or o.boundary, detail=o.detail)
            for o, pair in zip(found, tokens, strict=True)
        ]

    def anatomy(self) -> Anatomy:
        """Discover the parts of the loaded model."""
        return self._anatomy()

    def close(self) -> None:
        """Give back what the runtime holds."""
        if self._close is not None:
            self._close()

    def _say(self, rendered: Sequence[Rendered], max_new_tokens: int) -> list[Answer]:
        names = [f"prompt {n}" for n in range(len(rendered))]
        requests = [
            Request(name, name, prompt.token_ids, words=prompt.words)
            for name, prompt in zip(names, rendered, strict=True)
        ]
        found = self._ask(requests, max_new_tokens)
        return [
            Answer(self._text(o), prompt.text, o.status, o.finish, o.detail)
            for o, prompt in zip(found, rendered, strict=True)
        ]

    def _text(self, outcome: Outcome) -> str:
        """Return what was said: a server's own text, else the tokens'."""
        if outcome.text is None and outcome.token_ids:
            return self.renderer.decode(outcome.token_ids)
        return outcome.text or ""

    def _ask(self, requests: Sequence[Request], max_new_tokens: int) -> list[Outcome]:
        plan = self._plan(requests, token_budget=self._token_budget, new_tokens=max_new_tokens)
        by_id = {
            outcome.id: outcome
            for batch in plan
            for outcome in self.runtime.execute(batch, max_new_tokens=max_new_tokens)
        }
        return [by_id[request.id] for request in requests]
