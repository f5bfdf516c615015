"""The batch plan of a shard: which requests are computed together.

The work of an evaluation is prefill, and prompts repeat each other: the chat header and the
instruction over all items, the stem over the orders and formats of one, the first options over
some orders, a scored context over its options. The plan sorts all requests by their tokens, which
is the depth-first order of their token trie, and cuts that order into batches where the least is
forwarded twice. A backend runs every batch as a trie. The plan is a pure function of the set of
requests: the order in which they are given does not matter, and a resumed shard repeats the same
batches.
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

#: Cached positions that weigh as much as one forwarded token when a batch is filled. A generation
#: forwards few tokens beside its shared prefix, but decodes over a copy of the whole prompt.
SLOTS_PER_TOKEN = 8

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
    requests: Sequence[Request], *, token_budget: int, share: bool = True, new_tokens: int = 0
) -> list[Batch]:
    """Plan all requests of a shard.

    Parameters
    ----------
    requests : sequence of Request
        The whole shard. Its order does not matter.
    token_budget : int
        Most tokens that one batch forwards: the nodes of its trie and every new token. A request
        that is longer alone still gets a batch of its own.
    share : bool
        Whether requests of a batch are computed as one trie (one group), or each alone.
    new_tokens : int
        Tokens that each generation may add, counted in the budget.

    Returns
    -------
    list of Batch
        Every request exactly once; generations first, each kind in the order of its tokens.

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
        extra = new_tokens if kind == "generate" else 0
        for start, stop in _cut(asked, token_budget, extra, kind == "generate", share):
            part = tuple(asked[start:stop])
            batches.append(Batch(kind, (part,) if share else tuple((r,) for r in part)))
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
    ordered: Sequence[Request], budget: int, new_tokens: int, copies: bool, share: bool
) -> list[tuple[int, int]]:
    """Cut `ordered` into consecutive batches (start, stop) within the budget at the least cost.

    A cut repeats what its two neighbours share, and a batch costs its calls. The cheapest cut is
    found exactly, by dynamic programming over where the last batch begins.
    """
    lengths = [len(forwarded(request)) for request in ordered]
    repeated = _repeated(ordered, share)
    added = [0, *accumulate(a - b for a, b in zip(lengths, repeated, strict=True))]

    def fits(start: int, stop: int, longest: int) -> bool:
        rows = stop - start
        slots = rows * (longest + new_tokens) if copies else 0
        nodes = added[stop] - added[start] + repeated[start]
        return max(nodes + rows * new_tokens, slots // SLOTS_PER_TOKEN) <= budget

    least, begins = [0], [0]  # of the first n requests: their cost, where their last batch begins
    window = _Window(lengths)
    for stop in range(1, len(lengths) + 1):
        new = stop - 1
        window.add(new, least[new] - added[new] + repeated[new])
        while window.first < new and not fits(window.first, stop, window.longest):
            window.drop()
        cost, begin = window.cheapest
        least.append(cost + added[stop] + CALL_COST * (1 + new_tokens))
        begins.append(begin)
    return _batches(begins)


class _Window:
    """Where a batch may begin.

    The more requests a batch holds the more it costs, so that the possible beginnings only move
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


def _repeated(ordered: Sequence[Request], share: bool) -> list[int]:
    """Return for each request how many tokens it shares with the one before it."""
    tokens = [forwarded(request) for request in ordered]
    if not (share and tokens):
        return [0] * len(tokens)
    return [0, *(common_length(a, b) for a, b in zip(tokens, tokens[1:], strict=False))]


def _batches(begins: Sequence[int]) -> list[tuple[int, int]]:
    cuts: list[tuple[int, int]] = []
    stop = len(begins) - 1
    while stop:
        cuts.append((begins[stop], stop))
        stop = begins[stop]
    return cuts[::-1]
