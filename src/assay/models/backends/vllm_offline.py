"""The vLLM runtime: one engine a process, whole windows of a shard, answers matched by id."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.core.capability import Capability
from assay.core.errors import ModelError
from assay.core.model import Batch, Outcome, Request
from assay.core.spec import DType
from assay.models.backends.engine_asks import Answer, Ask, asks_of, outcomes_of, take
from assay.models.backends.vllm_engine import Engine, EngineDied, Settings
from assay.models.files import max_length

#: Nats that a log-probability may move when the same asks are sent in another order. What is
#: looked for is far larger: rows of another request, left in a buffer.
ORDER_BOUND: dict[DType, float] = {"float32": 1e-3, "float16": 0.1, "bfloat16": 0.5}
#: Asks for prompt log-probabilities that are sent again, in reverse, before a score is believed.
ORDER_ASKS = 8
#: Engines that may die before the job gives up.
MOST_RESTARTS = 8


class Asked(Protocol):
    """What the runtime needs of an engine; `Engine` is the real one."""

    positions: int
    vocabulary: int
    end: frozenset[int]

    def answers(self, asks: Sequence[Ask], *, new_tokens: int) -> Iterator[tuple[str, Answer]]:
        """Yield (ask id, answer) as they are finished."""

    def forget(self) -> None:
        """Empty the prefix cache."""

    def close(self) -> None:
        """End the engine's process."""


@dataclass(slots=True)
class Stats:
    """What a model has done since it was loaded.

    Attributes
    ----------
    load_s, generate_s, score_s : float
        Seconds in loading, in generations (prompts included), and in scoring.
    prompt_tokens : int
        Prompt tokens as one request at a time would forward them.
    forwarded_tokens : int
        Prompt tokens that the engine did not find in its prefix cache.
    new_tokens : int
        Generated tokens, end tokens left out.
    restarts : int
        Engines that died and were replaced.
    order_difference : float
        Largest difference of a log-probability between two orders of the same asks (nats).
    """

    load_s: float = 0.0
    generate_s: float = 0.0
    score_s: float = 0.0
    prompt_tokens: int = 0
    forwarded_tokens: int = 0
    new_tokens: int = 0
    restarts: int = 0
    order_difference: float = 0.0


class VLLMOffline:
    """A model in a vLLM engine (see `assay.core.model.Model`).

    Parameters
    ----------
    start : callable
        Starts an engine; called again if it dies.
    dtype : str
        The engine's number format, which bounds what another order may change.
    limit : int or None
        Most tokens of prompt and answer together that the model has positions for.
    """

    def __init__(self, start: Callable[[], Asked], *, dtype: DType, limit: int | None):
        self.stats = Stats()
        self._start, self._dtype, self._limit = start, dtype, limit
        self._checked = False
        self._engine = self._started()

    @classmethod
    def load(cls, settings: Settings) -> VLLMOffline:
        """Start an engine for a model folder."""
        limit = max_length(settings.folder)
        return cls(lambda: Engine(settings), dtype=settings.dtype, limit=limit)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this runtime can give."""
        return frozenset({Capability.GENERATE, Capability.LOGPROBS})

    def close(self) -> None:
        """End the engine's process."""
        self._engine.close()

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        """Answer every request of `batch`, in its order.

        The engine's prefix cache is emptied before: answers and counts are those of the batch,
        whatever was asked before it, by this shard or another, and a resumed job gives the same.
        A request that has no room in the model's positions is `too_long`, one that has no room in
        the engine's cache is `oom`; nothing is cut. A request that ends the engine's process is
        found by halving what was not answered, on a new engine each time: it is `backend_error`.

        Raises
        ------
        ModelError
            If the engine answers what was not asked, its scores depend on the order in which they
            are asked, or it dies again and again.
        """
        started = time.perf_counter()
        self._forget()
        extra = max_new_tokens if batch.kind == "generate" else 0
        refused = {r.id: o for r in batch.requests if (o := self._refusal(r, extra)) is not None}
        kept = tuple((r,) for r in batch.requests if r.id not in refused)
        asks = asks_of(Batch(batch.kind, kept))
        found = self._answers(asks, max_new_tokens)
        if batch.kind == "score":
            self._check_order(asks, found, max_new_tokens)
        outcomes = dict(refused)
        for ask in asks:
            answer = found.get(ask.id, Answer((), fault="the engine's process ended at this ask"))
            for outcome in outcomes_of(ask, answer, limit=max_new_tokens, end=self._engine.end):
                outcomes[outcome.id] = outcome
        self._count(asks, found)
        self._clock(batch, outcomes, time.perf_counter() - started)
        return [outcomes[request.id] for request in batch.requests]

    def _refusal(self, request: Request, extra: int) -> Outcome | None:
        """Return the outcome of a request that the engine cannot take; None if it can."""
        size = request.length + extra
        if self._limit is not None and size > self._limit:
            detail = f"{request.length} tokens and the answer exceed the {self._limit} positions"
            return Outcome(request.id, "too_long", detail=detail)
        if size > self._engine.positions:
            detail = f"the engine's cache has room for {self._engine.positions} tokens of a request"
            return Outcome(request.id, "oom", detail=detail)
        # An id beyond the table of embeddings is read past its end and takes the engine along.
        highest = max(request.context + (request.continuation or ()))
        if highest >= self._engine.vocabulary:
            detail = f"token {highest} is outside the model's {self._engine.vocabulary}"
            return Outcome(request.id, "backend_error", detail=detail)
        return None

    def _answers(self, asks: Sequence[Ask], limit: int) -> dict[str, Answer]:
        """Ask all of `asks`; one at which the engine dies is left out of what is returned."""
        asked = {ask.id for ask in asks}
        found: dict[str, Answer] = {}
        try:
            for name, answer in self._engine.answers(asks, new_tokens=limit):
                take(asked, found, name, answer)
            return found
        except EngineDied as error:
            self._restart(error)
        rest = [ask for ask in asks if ask.id not in found]
        if len(rest) > 1:
            middle = len(rest) // 2
            for half in (rest[:middle], rest[middle:]):
                found |= self._answers(half, limit)
        return found

    def _forget(self) -> None:
        try:
            self._engine.forget()
        except EngineDied as error:
            self._restart(error)

    def _restart(self, error: EngineDied) -> None:
        self.stats.restarts += 1
        if self.stats.restarts > MOST_RESTARTS:
            raise error
        self._engine.close()
        self._engine = self._started()

    def _started(self) -> Asked:
        started = time.perf_counter()
        engine = self._start()
        self.stats.load_s += time.perf_counter() - started
        return engine

    def _check_order(self, asks: Sequence[Ask], found: dict[str, Answer], limit: int) -> None:
        """Ask the first scores again, in reverse, before any of them is believed.

        Versions of vLLM have returned prompt log-probabilities that depended on the requests
        before (its issue 42019); a wrong row would be a plausible score.
        """
        at_risk = [ask for ask in asks if ask.scores_prompt and ask.id in found]
        sample = at_risk[:ORDER_ASKS]
        if self._checked or len(sample) < 2:
            return
        again = self._answers(sample[::-1], limit)
        for ask in sample:
            first, second = found[ask.id], again.get(ask.id)
            moved = float("inf") if second is None else _difference(ask, first, second)
            if moved > ORDER_BOUND[self._dtype]:
                raise ModelError(
                    f"a log-probability moved by {moved:.3g} nats when the same requests were sent"
                    " in another order.",
                    where=ask.id,
                    fix="this version of vLLM scores wrongly: use the locked one (envs/locks).",
                )
            self.stats.order_difference = max(self.stats.order_difference, moved)
        self._checked = True

    def _count(self, asks: Sequence[Ask], found: dict[str, Answer]) -> None:
        for ask in asks:
            if ask.id in found:
                self.stats.prompt_tokens += len(ask.prompt) * len(ask.members)
                self.stats.forwarded_tokens += len(ask.prompt) - found[ask.id].cached

    def _clock(self, batch: Batch, outcomes: dict[str, Outcome], seconds: float) -> None:
        self.stats.new_tokens += sum(len(outcome.token_ids) for outcome in outcomes.values())
        if batch.kind == "generate":
            self.stats.generate_s += seconds
        else:
            self.stats.score_s += seconds


def _difference(ask: Ask, first: Answer, second: Answer) -> float:
    """Return the largest difference of two answers' log-probabilities; infinite if not alike."""
    if len(first.prompt_logprobs) != len(second.prompt_logprobs):
        return float("inf")
    pairs = list(zip(first.prompt_logprobs, second.prompt_logprobs, strict=True))
    one, two = first.next_logprobs or {}, second.next_logprobs or {}
    pairs += [(one[t], two[t]) for t in ask.next_tokens if t in one and t in two]
    return max((_apart(x, y) for x, y in pairs), default=0.0)


def _apart(x: float, y: float) -> float:
    """Return the distance of two numbers, of which two that are not finite are alike."""
    if math.isfinite(x) and math.isfinite(y):
        return abs(x - y)
    return float("inf") if math.isfinite(x) or math.isfinite(y) else 0.0
