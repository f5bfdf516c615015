"""Padded batches, for models that cannot run a trie: prefixes are computed once and branched.

Requests of one `group` share a long prefix. The plan groups them by the token prefix they share, so
that a backend computes it once and branches rows from it, and cuts batches so that padding and
calls cost least within a budget of padded tokens. Like the plan of the shard it is a pure function
of the set of requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from assay.core.model import Batch, Request
from assay.models.plan import CALL_COST, SLOTS_PER_TOKEN, check_requests, forwarded
from assay.models.trie import Tokens, common_length


@dataclass(frozen=True, slots=True)
class PaddedCounts:
    """Prompt tokens of padded batches.

    Attributes
    ----------
    planned : int
        Shared prefixes once, no padding counted.
    padded : int
        What the batches forward, padding included.
    """

    planned: int
    padded: int


def common_prefix(sequences: Sequence[Tokens]) -> int:
    """Return the length of the longest common prefix of all `sequences`."""
    return common_length(min(sequences), max(sequences))


def prefix_length(group: Sequence[Request]) -> int:
    """Return how many leading tokens a group takes from one cache; 0 for a group of one.

    The last context token is never shared: its own forward gives the first wanted logit.
    """
    if len(group) == 1:
        return 0
    limit = min(len(request.context) for request in group) - 1
    return min(limit, common_prefix([forwarded(request) for request in group]))


def plan_padded(
    requests: Sequence[Request], *, token_budget: int, share: bool = True, new_tokens: int = 0
) -> list[Batch]:
    """Plan `requests` as padded rows.

    Parameters
    ----------
    requests : sequence of Request
        Their order does not matter.
    token_budget : int
        Most padded tokens that one batch forwards (prefixes + suffixes + new tokens, by row).
        A request that is longer alone still gets a batch of its own.
    share : bool
        Whether requests of one `group` may branch from a common prefix.
    new_tokens : int
        Tokens that each generation may add, counted in the budget.

    Returns
    -------
    list of Batch
        Every request exactly once; longest first, then by id.

    Raises
    ------
    ModelError
        If two requests have the same id, or a context is empty.

    Examples
    --------
    >>> ask = [Request("a", "item", (1, 2, 3)), Request("b", "item", (1, 2, 4))]
    >>> [[r.id for r in batch.requests] for batch in plan_padded(ask, token_budget=64)]
    [['a', 'b']]
    """
    check_requests(requests)
    batches: list[Batch] = []
    for kind in ("generate", "score"):
        asked = [r for r in requests if (r.continuation is None) == (kind == "generate")]
        extra = new_tokens if kind == "generate" else 0
        groups = _share(asked) if share else [(request,) for request in asked]
        pieces = [p for group in groups for p in _split(group, token_budget, extra)]
        pieces.sort(key=_order)
        batches += [Batch(kind, tuple(g)) for g in _fill(pieces, token_budget, extra)]
    return batches


def padded_counts(batches: Sequence[Batch]) -> PaddedCounts:
    """Count the prompt tokens that `batches` forward as padded rows."""
    planned = padded = 0
    for batch in batches:
        shapes = [_Shape.of(group) for group in batch.groups]
        whole = _merge(shapes)
        common = len(whole.common)
        planned += common + sum(len(shape.common) - common for shape in shapes)
        planned += sum(
            len(forwarded(request)) - shape.prefix
            for shape, group in zip(shapes, batch.groups, strict=True)
            for request in group
        )
        padded += whole.forwarded
    return PaddedCounts(planned, padded)


@dataclass(frozen=True, slots=True)
class _Shape:
    """Padded size of groups that are computed side by side.

    `common` is the prefix that all their prefixes share: it is computed in one row, then come the
    rest of every prefix and the suffixes, each padded to the longest.
    """

    groups: int
    rows: int
    common: Tokens
    prefix: int
    suffix: int

    @classmethod
    def of(cls, group: Sequence[Request]) -> _Shape:
        head = forwarded(group[0])[: prefix_length(group)]
        longest = max(len(forwarded(request)) for request in group)
        return cls(1, len(group), head, len(head), longest - len(head))

    @property
    def forwarded(self) -> int:
        common = len(self.common)
        return common + self.groups * (self.prefix - common) + self.rows * self.suffix

    def cost(self, new_tokens: int) -> int:
        slots = self.rows * (self.prefix + self.suffix + new_tokens)
        return max(self.forwarded + self.rows * new_tokens, slots // SLOTS_PER_TOKEN)


def _merge(shapes: Sequence[_Shape]) -> _Shape:
    heads = [shape.common for shape in shapes]
    return _Shape(
        sum(shape.groups for shape in shapes),
        sum(shape.rows for shape in shapes),
        heads[0][: common_prefix(heads)],
        max(shape.prefix for shape in shapes),
        max(shape.suffix for shape in shapes),
    )


def _share(requests: Sequence[Request]) -> list[tuple[Request, ...]]:
    """Cut every named group where its token trie makes that cheaper."""
    if not requests:
        return []
    ordered = sorted(requests, key=lambda r: (r.group, forwarded(r), r.id))
    everywhere = common_prefix([forwarded(request) for request in requests])
    shared: list[tuple[Request, ...]] = []
    for _, members in groupby(ordered, key=lambda r: r.group):
        shared += _cut(list(members), everywhere)[1]
    return shared


def _cut(members: list[Request], everywhere: int) -> tuple[int, list[tuple[Request, ...]]]:
    """Return (tokens saved, groups) of the best cut of `members`, sorted by their tokens.

    One shared prefix of depth d for n members saves (n - 1) d tokens; cutting at the first branch
    of their trie may save more below it. The prefix that the whole shard shares (a system turn,
    few-shot examples) counts for nothing: a backend computes it once for a batch in any case.
    """
    if len(members) == 1:
        return 0, [tuple(members)]
    depth = prefix_length(members)
    together = (len(members) - 1) * max(depth - everywhere, 0)
    tokens = [forwarded(member) for member in members]
    links = [common_length(a, b) for a, b in zip(tokens, tokens[1:], strict=False)]
    cuts = [i + 1 for i, link in enumerate(links) if link == min(links)]
    saved, groups = 0, []
    for start, stop in zip([0, *cuts], [*cuts, len(members)], strict=True):
        below, parts = _cut(members[start:stop], everywhere)
        saved += below
        groups += parts
    return (saved, groups) if saved > together else (together, [tuple(members)])


def _split(group: tuple[Request, ...], budget: int, new_tokens: int) -> list[tuple[Request, ...]]:
    """Cut a group that alone exceeds the budget into consecutive pieces that fit."""
    pieces: list[tuple[Request, ...]] = []
    piece: tuple[Request, ...] = ()
    for request in group:
        if piece and _Shape.of((*piece, request)).cost(new_tokens) > budget:
            pieces.append(piece)
            piece = ()
        piece = (*piece, request)
    return [*pieces, piece]


def _order(group: tuple[Request, ...]) -> tuple[int, int, str]:
    """Sort by what is padded most: the suffix of every row, then the prefix, then the id."""
    shape = _Shape.of(group)
    return -shape.suffix, -shape.prefix, min(request.id for request in group)


def _fill(
    pieces: Sequence[tuple[Request, ...]], budget: int, new_tokens: int
) -> list[list[tuple[Request, ...]]]:
    """Cut the ordered pieces into consecutive batches within the budget at the least cost.

    Large batches pad more and small ones call the model more often; the cheapest cut is found
    exactly, by dynamic programming over where the last batch begins.
    """
    shapes = [_Shape.of(piece) for piece in pieces]
    calls = CALL_COST * (2 + new_tokens)
    least: list[tuple[int, int]] = [(0, 0)]  # (cost of the first n pieces, where the last begins)
    for stop in range(1, len(shapes) + 1):
        merged: _Shape | None = None
        options: list[tuple[int, int]] = []
        for start in range(stop - 1, -1, -1):
            first = shapes[start]
            merged = first if merged is None else _merge([first, merged])
            if options and merged.cost(new_tokens) > budget:
                break
            options.append((least[start][0] + merged.forwarded + calls, start))
        least.append(min(options))
    batches: list[list[tuple[Request, ...]]] = []
    stop = len(shapes)
    while stop:
        start = least[stop][1]
        batches.append(list(pieces[start:stop]))
        stop = start
    return batches[::-1]
