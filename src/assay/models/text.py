"""A model that is asked in words, whatever runs it: the object behind `load` and `wrap`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TypeVar

from assay.core.capability import Capability, require
from assay.core.errors import ModelError
from assay.core.model import Finish, OutcomeStatus
from assay.core.spec import ModelSpec
from assay.models.runtime import Conversation

if TYPE_CHECKING:
    from assay.models.anatomy import Anatomy


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said.

    Attributes
    ----------
    text : str
        Without special tokens; empty unless `status` is "ok".
    prompt : str
        Exactly what was sent, chat template included; of an engine of one's own, what it was given.
    finish : {"eos", "length"} or None
        Why the answer ended; None where the engine does not say.
    detail : str
        What went wrong, when `status` is not "ok".
    """

    text: str
    prompt: str
    status: OutcomeStatus = "ok"
    finish: Finish | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """How likely a continuation is after its context.

    Attributes
    ----------
    logprobs : tuple of float
        Natural-log probability of each token of the continuation; empty unless `status` is "ok".
    boundary : bool
        The tokens of the joined text do not extend the context's: the first scored token begins
        inside the context.
    """

    logprobs: tuple[float, ...]
    status: OutcomeStatus = "ok"
    boundary: bool = False
    detail: str = ""

    @property
    def total(self) -> float:
        """Sum of the log-probabilities in nats; NaN where there is no score."""
        return math.fsum(self.logprobs) if self.status == "ok" else math.nan

    @property
    def mean(self) -> float:
        """Mean log-probability of a token in nats; NaN where there is no score."""
        return self.total / len(self.logprobs) if self.logprobs else math.nan


A = TypeVar("A", Answer, Score)


class TextEngine(Protocol):
    """What answers in words; every method takes a whole batch and keeps its order."""

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Answer]:
        """Continue texts as they are."""

    def chat(self, conversations: Sequence[Conversation], max_new_tokens: int) -> list[Answer]:
        """Answer conversations."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Score]:
        """Score (context, continuation) pairs."""

    def anatomy(self) -> Anatomy:
        """Discover the parts of the loaded model."""

    def close(self) -> None:
        """Give back what it holds."""


class TextModel:
    """A model with its identity, its capabilities and what answers for it.

    Made by `assay.load`, `assay.compose` and `assay.wrap`. Decoding is greedy. As a context manager
    it closes itself.

    Attributes
    ----------
    spec : ModelSpec
        What the model is.
    capabilities : frozenset of Capability
        What can be asked of it.
    """

    def __init__(self, spec: ModelSpec, capabilities: frozenset[Capability], engine: TextEngine):
        self.spec = spec
        self.capabilities = capabilities
        self._engine = engine

    def __repr__(self) -> str:
        return f"TextModel({self.spec.key}: {', '.join(sorted(self.capabilities))})"

    def generate(self, prompts: Sequence[str], *, max_new_tokens: int = 64) -> list[Answer]:
        """Continue each prompt as it is, without a chat template.

        Returns
        -------
        list of Answer
            One for each prompt, in order; one that got no answer says why in its `status`.

        Raises
        ------
        CapabilityError
            If the runtime generates nothing.
        ModelError
            If a single text was given, or a prompt has no token.
        """
        self._need(Capability.GENERATE, "generate")
        _refuse_text("generate", "prompts", prompts)
        return _whole(self._engine.generate(prompts, max_new_tokens), len(prompts))

    def chat(
        self, conversations: Sequence[Conversation], *, max_new_tokens: int = 64
    ) -> list[Answer]:
        """Answer each conversation, a list of {"role": …, "content": …} turns.

        The chat template is applied once; a model of plain text gets the contents, a blank line
        between turns. Raises as `generate`.
        """
        self._need(Capability.GENERATE, "chat")
        if any(isinstance(turns, dict) for turns in conversations):
            raise ModelError(
                "chat takes a list of conversations and was given a single one.",
                fix="put it into a list: chat([messages]).",
            )
        return _whole(self._engine.chat(conversations, max_new_tokens), len(conversations))

    def score(self, contexts: Sequence[str], continuations: Sequence[str]) -> list[Score]:
        """Score each continuation after the context at the same place.

        Raises
        ------
        CapabilityError
            If the runtime gives no log-probabilities.
        ModelError
            If the two are not equally many, or a continuation has no token.
        """
        self._need(Capability.LOGPROBS, "score")
        _refuse_text("score", "contexts", contexts)
        _refuse_text("score", "continuations", continuations)
        if len(contexts) != len(continuations):
            raise ModelError(
                f"{len(contexts)} contexts were given with {len(continuations)} continuations.",
                where=self.spec.key,
                fix="repeat a context for each of its continuations.",
            )
        pairs = list(zip(contexts, continuations, strict=True))
        return _whole(self._engine.score(pairs), len(pairs))

    def anatomy(self) -> Anatomy:
        """Return the decoder layers, final norm and unembedding of the loaded model.

        Raises
        ------
        ModelError
            If the model is not loaded in this process.
        """
        return self._engine.anatomy()

    def close(self) -> None:
        """End what runs the model outside this process; it may not be asked any more."""
        self._engine.close()

    def __enter__(self) -> TextModel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _need(self, capability: Capability, consumer: str) -> None:
        require({capability}, self.capabilities, consumer=consumer, model=self.spec.key)


def _refuse_text(method: str, what: str, given: Sequence[str]) -> None:
    """Refuse a bare text: it is a sequence of texts too, one a character."""
    if isinstance(given, str):
        raise ModelError(
            f"{method} takes a list of {what} and was given a single text.",
            fix="put it into a list.",
        )


def _whole(answers: list[A], asked: int) -> list[A]:
    if len(answers) != asked:
        raise ModelError(
            f"{len(answers)} answers came back for {asked} questions.",
            fix="an engine must give one answer for each entry of a batch, in order.",
        )
    return answers
