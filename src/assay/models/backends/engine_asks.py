"""What an engine that returns whole answers is asked for a batch, and what its answers mean.

An engine gives the log-probability of chosen *next* tokens after a prompt, and of the prompt's own
tokens. A continuation is therefore scored by sending all of it but the last token behind its
context: the last token is a next token, those before it are prompt tokens. A continuation of one
token needs no prompt log-probabilities, and the options of one context (labels) need one ask.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from assay.core.errors import ModelError
from assay.core.model import Batch, Outcome, Request
from assay.models.plan import forwarded

#: Most next tokens that one ask may name (vLLM 0.32 takes 128).
MOST_NEXT = 128


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that an engine is asked; it answers one or several requests.

    Attributes
    ----------
    id : str
        The id of the first member.
    prompt : tuple of int
        Token ids that are sent.
    members : tuple of Request
        What the answer is for. Several only where continuations of one token share a context.
    """

    id: str
    prompt: tuple[int, ...]
    members: tuple[Request, ...]

    @property
    def next_tokens(self) -> tuple[int, ...]:
        """The tokens whose log-probability after the prompt is wanted; empty for a generation."""
        return tuple(r.continuation[-1] for r in self.members if r.continuation)

    @property
    def scores_prompt(self) -> bool:
        """Whether log-probabilities of prompt tokens are wanted."""
        return any(len(request.continuation or ()) > 1 for request in self.members)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine returned for one ask.

    Attributes
    ----------
    token_ids : tuple of int
        New tokens, an end token included where the engine returns it.
    chosen : tuple of float
        Log-probability of each new token.
    next_logprobs : mapping of int to float
        Token → log-probability directly after the prompt.
    prompt_logprobs : sequence of float
        Log-probability of each prompt token but the first, in order; empty if not asked for.
    cached : int
        Prompt tokens that the engine took from its prefix cache.
    fault : str
        Why there is no answer; empty where there is one.
    """

    token_ids: tuple[int, ...]
    chosen: tuple[float, ...] = ()
    next_logprobs: Mapping[int, float] | None = None
    prompt_logprobs: Sequence[float] = ()
    cached: int = 0
    fault: str = ""


def asks_of(batch: Batch) -> list[Ask]:
    """Return what to ask for every request of `batch`, in its order.

    Identical requests stay separate asks: a replicate is there to be computed twice.
    """
    if batch.kind == "generate":
        return [Ask(r.id, r.context, (r,)) for r in batch.requests]
    asks: list[list[Request]] = []
    labels: dict[tuple[int, ...], list[list[Request]]] = {}
    for request in batch.requests:
        if len(request.continuation or ()) > 1:
            asks.append([request])
            continue
        shared = labels.setdefault(request.context, [])
        place = next((members for members in shared if _has_room(members, request)), None)
        if place is None:
            place = []
            shared.append(place)
            asks.append(place)
        place.append(request)
    return [Ask(members[0].id, forwarded(members[0]), tuple(members)) for members in asks]


def _has_room(members: Sequence[Request], request: Request) -> bool:
    known = {member.continuation for member in members}
    return len(members) < MOST_NEXT and request.continuation not in known


def take(asked: Collection[str], found: dict[str, Answer], name: str, answer: Answer) -> None:
    """Put the answer to the ask called `name`, one of `asked`, into `found`.

    Raises
    ------
    ModelError
        If nothing of that name was asked, or it has an answer already.
    """
    known = name in asked
    if not known or name in found:
        fault = "answered twice" if known else "answered what was not asked"
        raise ModelError(
            f"the engine {fault}.",
            where=name,
            fix="this is a fault of the runtime: please report it with its version.",
        )
    found[name] = answer


def outcomes_of(ask: Ask, answer: Answer, *, limit: int, end: frozenset[int]) -> list[Outcome]:
    """Return the outcome of every member of `ask`.

    Parameters
    ----------
    limit : int
        Most new tokens of a generation.
    end : frozenset of int
        Tokens that end an answer.
    """
    if answer.fault:
        return [Outcome(r.id, "backend_error", detail=answer.fault) for r in ask.members]
    if not ask.next_tokens:
        return [_generated(ask.id, answer, limit, end)]
    return [_scored(request, answer) for request in ask.members]


def _generated(name: str, answer: Answer, limit: int, end: frozenset[int]) -> Outcome:
    said, ended = answer.token_ids, bool(answer.token_ids) and answer.token_ids[-1] in end
    if len(answer.chosen) != len(said) or not all(map(math.isfinite, answer.chosen)):
        return Outcome(name, "nonfinite", detail="a new token has no finite log-probability")
    if ended:
        return Outcome(name, "ok", token_ids=said[:-1], finish="eos")
    if len(said) == limit:
        return Outcome(name, "ok", token_ids=said, finish="length")
    detail = f"the engine stopped after {len(said)} of {limit} tokens without an end token"
    return Outcome(name, "backend_error", detail=detail)


def _scored(request: Request, answer: Answer) -> Outcome:
    """Read a continuation's log-probabilities; what is not there is an error, not a guess."""
    continuation = request.continuation or ()
    inner = len(continuation) - 1
    last = (answer.next_logprobs or {}).get(continuation[-1])
    if last is None or (inner and len(answer.prompt_logprobs) != request.length - 2):
        detail = "the engine left out log-probabilities that were asked for"
        return Outcome(request.id, "backend_error", detail=detail)
    logprobs = (*(answer.prompt_logprobs[-inner:] if inner else ()), last)
    if not all(map(math.isfinite, logprobs)):
        return Outcome(request.id, "nonfinite", detail="a log-probability is not a finite number")
    return Outcome(request.id, "ok", logprobs=logprobs)
