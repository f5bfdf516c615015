"""A user's own engine: functions on text in place of a loaded model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

from assay.core.errors import ModelError
from assay.core.spec import ModelSpec
from assay.models.anatomy import Anatomy
from assay.models.runtime import Conversation, RuntimeConfig
from assay.models.text import Answer, Score


class FunctionEngine:
    """Answers by the functions of a `RuntimeConfig`, each called once with a whole batch.

    Parameters
    ----------
    spec : ModelSpec
        A model with `chat: plain` is asked conversations through `generate_fn` where there is no
        `chat_fn`: the contents, a blank line between turns.
    """

    def __init__(self, spec: ModelSpec, runtime: RuntimeConfig):
        self._spec = spec
        self._runtime = runtime

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Answer]:
        """Continue texts by `generate_fn`."""
        if self._runtime.generate_fn is None:
            self._lacks("generate_fn", "it only chats")
        asked = list(prompts)
        return self._answers(asked, self._runtime.generate_fn(asked, max_new_tokens))

    def chat(self, conversations: Sequence[Conversation], max_new_tokens: int) -> list[Answer]:
        """Answer conversations by `chat_fn`."""
        shown = ["\n\n".join(turn["content"] for turn in turns) for turns in conversations]
        if self._runtime.chat_fn is not None:
            return self._answers(shown, self._runtime.chat_fn(list(conversations), max_new_tokens))
        if self._spec.chat != "plain":
            self._lacks("chat_fn", "the model's chat template is not known to it")
        return self.generate(shown, max_new_tokens)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Score]:
        """Score pairs by `logprobs_fn`."""
        if self._runtime.logprobs_fn is None:
            self._lacks("logprobs_fn", "it scores nothing")
        return [_score(found) for found in self._runtime.logprobs_fn(list(pairs))]

    def anatomy(self) -> Anatomy:
        """Refuse: nothing is loaded here."""
        raise ModelError(
            "the model runs in an engine of its own, where its parts cannot be seen.",
            where=self._spec.key,
            fix="load it with the backend hf_local, or wrap the loaded model.",
        )

    def close(self) -> None:
        """Do nothing: the functions are the user's."""

    def _answers(self, prompts: Sequence[str], texts: Sequence[str]) -> list[Answer]:
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise ModelError(
                "the engine's answers are not a list of texts.",
                where=self._spec.key,
                fix="return one str for each entry of the batch.",
            )
        if len(texts) != len(prompts):
            raise ModelError(
                f"the engine gave {len(texts)} answers for {len(prompts)} prompts.",
                where=self._spec.key,
                fix="return one answer for each entry of the batch, in order.",
            )
        return [Answer(text, prompt) for text, prompt in zip(texts, prompts, strict=True)]

    def _lacks(self, function: str, because: str) -> NoReturn:
        raise ModelError(
            f"the engine has no {function}: {because}.",
            where=self._spec.key,
            fix=f"give RuntimeConfig a {function}.",
        )


def _score(found: Sequence[float]) -> Score:
    logprobs = tuple(map(float, found))
    if logprobs and all(value <= 0 and math.isfinite(value) for value in logprobs):
        return Score(logprobs)
    detail = "a log-probability is missing, above 0 or not a finite number"
    return Score((), "nonfinite", detail=detail)
