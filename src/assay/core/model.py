"""The contract between what asks (grid, analyzers) and what answers (backends).

A *request* is already tokens: rendering and tokenising are done once, on the asking side, so that
every backend is asked exactly the same thing and the batch plan is a pure function of the shard.
A server behind an API renders and tokenises for itself; it is asked in *words*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from assay.core.capability import Capability

Finish = Literal["eos", "length"]
OutcomeStatus = Literal["ok", "too_long", "oom", "nonfinite", "backend_error"]


@dataclass(frozen=True, slots=True)
class Words:
    """What is said to a server that renders and tokenises for itself.

    Attributes
    ----------
    messages : tuple of (role, content)
        A conversation to answer; empty for plain text.
    text : str
        A plain prompt, or the stem of a continuation.
    continuation : str or None
        Text to score after `text`; None asks for a generation.
    """

    messages: tuple[tuple[str, str], ...] = ()
    text: str = ""
    continuation: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One thing to ask: a generation, or the log-probability of a continuation.

    Attributes
    ----------
    id : str
        Unique within a shard; outcomes are matched by it.
    group : str
        Requests of one group share a long token prefix and may be computed from one cache.
    context : tuple of int
        Token ids of the prompt (generation) or stem (scoring), BOS included where one belongs.
    continuation : tuple of int or None
        Token ids to score after the context; None asks for a generation.
    words : Words or None
        The request to a backend that takes no tokens; `context` and `continuation` say nothing
        then.
    again : bool
        Asked a second time, to see whether the answer is the same: never in one batch with the
        first, where one computation would answer both.
    """

    id: str
    group: str
    context: tuple[int, ...]
    continuation: tuple[int, ...] | None = None
    words: Words | None = None
    again: bool = False

    @property
    def length(self) -> int:
        """Number of tokens that a naive run would forward."""
        return len(self.context) + len(self.continuation or ())


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one request.

    Attributes
    ----------
    token_ids : tuple of int
        Generated ids without the end token; empty for a scoring request.
    finish : {"eos", "length"} or None
        Why a generation ended.
    logprobs : tuple of float
        Natural-log probability of each continuation token (float32 arithmetic, needed positions
        only); empty for a generation.
    detail : str
        What went wrong, when `status` is not "ok".
    text : str or None
        The answer of a backend that was asked in words; `token_ids` is empty then.
    prompt_tokens, new_tokens : int or None
        As a backend that was asked in words counts them.
    boundary : bool
        The same backend's word that the tokens of the joined text do not extend the stem's.
    """

    id: str
    status: OutcomeStatus
    token_ids: tuple[int, ...] = ()
    finish: Finish | None = None
    logprobs: tuple[float, ...] = ()
    detail: str = ""
    text: str | None = None
    prompt_tokens: int | None = None
    new_tokens: int | None = None
    boundary: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests that are computed together, in a fixed order.

    What the members of a group have in common is computed once; groups share nothing.
    """

    kind: Literal["generate", "score"]
    groups: tuple[tuple[Request, ...], ...]

    @property
    def requests(self) -> tuple[Request, ...]:
        """All requests, group by group."""
        return tuple(request for group in self.groups for request in group)


class Model(Protocol):
    """A loaded model, whatever runs it."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this runtime can give."""

    @property
    def stats(self) -> Any:
        """A dataclass or mapping of what the model has done: seconds, tokens, memory."""

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        """Answer every request of `batch` exactly once, in any order."""
