"""The batch plan of a shard: which requests are computed together.

The work of an evaluation is prefill, and prompts repeat each other: the chat header and the
instruction over all items, the stem over the orders and formats of one, the first options over
some orders, a scored context over its options. The plan sorts all requests by their tokens, which
is the depth-first order of their token trie, and cuts that order into groups where the least is
forwarded twice. A backend runs every group as a trie. A decoding step reads all weights for one
token a row, so that generations wait for each other: consecutive groups make one batch, whose
prompts are run one group after the other and whose answers are decoded together. The plan is a
pure function of the set of requests: the order in which they are given does not matter, and a
resumed shard repeats the same batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from assay.core.errors import ModelError
from assay.core.model import Batch, Request
from assay.models.trie import Tokens, common_length, trie_size

Kind = Literal["generate", "score"]

#: Cached positions that the rows of one batch may hold while they decode, as a multiple of the
#: budget: every row decodes over a copy of its whole prompt.
SLOTS_PER_TOKEN = 8

#: Generations in one batch. A step over more rows is no cheaper a row, a killed job asks all of
#: them again, and their float32 logits over 262,144 tokens (Gemma) already take 512 MiB.
MOST_ROWS = 512

#: What one call of the model costs beside its tokens, in tokens: it reads all weights once.
CALL_COST = 25


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Prompt tokens of a shard under three ways to compute it.

    Attributes
    ----------
    naive : int
        Every request alone, nothing shared.
    floor : int
        Nodes of the token trie over all requests: no exact runtime forwards fewer.
    planned : int
        Nodes of the tries of the planned batches.
    """

    naive: int
    floor: int
    planned: int


def forwarded(request: Request) -> Tokens:
    """Return the tokens that are run through the model: all but a last scored one."""
    return request.context + (request.continuation or ())[:-1]


def plan_batches(
    requests: Sequence[Request], *, token_budget: int, new_tokens: int = 0
) -> list[Batch]:
    """Plan all requests of a shard.

    Parameters
    ----------
    requests : sequence of Request
        The whole shard. Its order does not matter.
    token_budget : int
        Most tokens that one call of the model forwards: the nodes of a group's trie. The rows of
        a batch of generations hold at most eight times as many positions, prompts and answers, and
        are at most `MOST_ROWS`.
        A request that is longer alone still gets a group, or a batch, of its own.
    new_tokens : int
        Tokens that each generation may add.

    Returns
    -------
    list of Batch
        Every request exactly once; generations first, each kind in the order of its tokens. A
        batch of scores is one group.

    Raises
    ------
    ModelError
        If two requests have the same id, or a context is empty.

    Examples
    --------
    >>> ask = [Request("a", "item", (1, 2, 3)), Request("b", "item", (1, 2, 4))]
    >>> [[r.id for r in batch.requests] for batch in plan_batches(ask, token_budget=64)]
    [['a', 'b']]
    """
    check_requests(requests)
    batches: list[Batch] = []
    for kind, asked in passes(requests):
        asked.sort(key=lambda request: (forwarded(request), request.id))
        slots = SLOTS_PER_TOKEN * token_budget if kind == "generate" else None
        groups = [
            tuple(asked[start:stop]) for start, stop in _cut(asked, token_budget, slots, new_tokens)
        ]
        if slots is None:
            batches += [Batch(kind, (group,)) for group in groups]
        else:
            batches += [Batch(kind, together) for together in _joined(groups, slots, new_tokens)]
    return batches


def passes(requests: Sequence[Request]) -> Iterator[tuple[Kind, list[Request]]]:
    """Yield what may share batches: one kind of request, and not what is asked again."""
    kinds: tuple[Kind, ...] = ("generate", "score")
    for again in (False, True):
        for kind in kinds:
            generates = kind == "generate"
            asked = [r for r in requests if (r.continuation is None) == generates]
            yield kind, [r for r in asked if r.again == again]


def token_counts(requests: Sequence[Request], batches: Sequence[Batch]) -> TokenCounts:
    """Count the prompt tokens of `requests` one by one, as one trie, and in `batches`."""
    whole = [forwarded(request) for request in requests]
    planned = sum(trie_size([forwarded(r) for r in g]) for batch in batches for g in batch.groups)
    return TokenCounts(sum(map(len, whole)), trie_size(whole), planned)


def check_requests(requests: Sequence[Request]) -> None:
    """Refuse requests that could not be told apart or have nothing to compute.

    Raises
    ------
    ModelError
        If two requests have the same id, or a context is empty.
    """
    seen: set[str] = set()
    for request in requests:
        if request.id in seen:
            raise ModelError(
                "two requests have the same id, so an outcome could not be told from the other.",
                where=request.id,
                fix="give every request of a shard its own id.",
            )
        if not request.context or request.continuation == ():
            raise ModelError(
                "a request has no context, or no token to score.",
                where=request.id,
                fix="report it as a status of its own; there is nothing to ask a model.",
            )
        seen.add(request.id)


def _cut(
    ordered: Sequence[Request], budget: int, slots: int | None, new_tokens: int
) -> list[tuple[int, int]]:
    """Cut `ordered` into consecutive groups (start, stop) within the bounds at the least cost.

    A cut repeats what its two neighbours share, and a group costs a call. The cheapest cut is
    found exactly, by dynamic programming over where the last group begins.
    """
    lengths = [len(forwarded(request)) for request in ordered]
    repeated = _repeated(ordered)
    added = [0, *accumulate(a - b for a, b in zip(lengths, repeated, strict=True))]

    def fits(start: int, stop: int, longest: int) -> bool:
        held = (stop - start) * (longest + new_tokens)
        nodes = added[stop] - added[start] + repeated[start]
        decodes = slots is None or (held <= slots and stop - start <= MOST_ROWS)
        return nodes <= budget and decodes

    least, begins = [0], [0]  # of the first n requests: their cost, where their last group begins
    window = _Window(lengths)
    for stop in range(1, len(lengths) + 1):
        new = stop - 1
        window.add(new, least[new] - added[new] + repeated[new])
        while window.first < new and not fits(window.first, stop, window.longest):
            window.drop()
        cost, begin = window.cheapest
        least.append(cost + added[stop] + CALL_COST)
        begins.append(begin)
    return _groups(begins)


def _joined(
    groups: Sequence[tuple[Request, ...]], slots: int, new_tokens: int
) -> Iterator[tuple[tuple[Request, ...], ...]]:
    """Yield consecutive groups that may decode together.

    Their rows, all as wide as the longest, hold at most `slots` and are at most `MOST_ROWS`.
    """
    joined: list[tuple[Request, ...]] = []
    count = longest = 0
    for group in groups:
        wider = max(longest, *(len(forwarded(request)) for request in group))
        rows = count + len(group)
        if joined and (rows > MOST_ROWS or rows * (wider + new_tokens) > slots):
            yield tuple(joined)
            joined, count = [], 0
            wider = max(len(forwarded(request)) for request in group)
        joined.append(group)
        count, longest = count + len(group), wider
    if joined:
        yield tuple(joined)


class _Window:
    """Where a group may begin.

    The more requests a group holds the more it costs, so that the possible beginnings only move
    forward; each is added and dropped once.
    """

    def __init__(self, lengths: Sequence[int]):
        self.first = 0
        self._lengths = lengths
        self._costs: deque[tuple[int, int]] = deque()  # rising: what may yet be the minimum
        self._longest: deque[int] = deque()  # falling: what may yet be the longest request

    @property
    def cheapest(self) -> tuple[int, int]:
        """(cost, beginning); of equal costs the first beginning."""
        return self._costs[0]

    @property
    def longest(self) -> int:
        return self._lengths[self._longest[0]]

    def add(self, start: int, cost: int) -> None:
        while self._costs and self._costs[-1][0] > cost:
            self._costs.pop()
        self._costs.append((cost, start))
        while self._longest and self._lengths[self._longest[-1]] <= self._lengths[start]:
            self._longest.pop()
        self._longest.append(start)

    def drop(self) -> None:
        if self._costs[0][1] == self.first:
            self._costs.popleft()
        if self._longest[0] == self.first:
            self._longest.popleft()
        self.first += 1


def _repeated(ordered: Sequence[Request]) -> list[int]:
    """Return for each request how many tokens it shares with the one before it."""
    tokens = [forwarded(request) for request in ordered]
    return [common_length(a, b) for a, b in zip([(), *tokens], tokens, strict=False)]


def _groups(begins: Sequence[int]) -> list[tuple[int, int]]:
    cuts: list[tuple[int, int]] = []
    stop = len(begins) - 1
    while stop:
        cuts.append((begins[stop], stop))
        stop = begins[stop]
    return cuts[::-1]
