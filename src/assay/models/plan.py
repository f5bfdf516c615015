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

from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.errors import ModelError
from assay.core.model import Batch, Request
from assay.models.trie import Tokens, common_length, trie_size

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
    for kind in ("generate", "score"):
        asked = [r for r in requests if (r.continuation is None) == (kind == "generate")]
        asked.sort(key=lambda request: (forwarded(request), request.id))
        extra = new_tokens if kind == "generate" else 0
        for start, stop in _cut(asked, token_budget, extra, kind == "generate", share):
            part = tuple(asked[start:stop])
            batches.append(Batch(kind, (part,) if share else tuple((r,) for r in part)))
    return batches


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

    A cut repeats what its two neighbours share, and a batch costs its calls; the cheapest cut is
    found exactly, by dynamic programming over where the last batch begins.
    """
    tokens = [forwarded(request) for request in ordered]
    shared = [common_length(a, b) if share else 0 for a, b in zip(tokens, tokens[1:], strict=False)]
    calls = CALL_COST * (1 + new_tokens)
    least: list[tuple[int, int]] = [(0, 0)]  # (cost of the first n, where their last batch begins)
    for stop in range(1, len(tokens) + 1):
        nodes = longest = 0
        best: tuple[int, int] | None = None
        for start in range(stop - 1, -1, -1):
            nodes += len(tokens[start]) - (shared[start] if start < stop - 1 else 0)
            longest = max(longest, len(tokens[start]))
            rows = stop - start
            slots = rows * (longest + new_tokens) if copies else 0
            if rows > 1 and max(nodes + rows * new_tokens, slots // SLOTS_PER_TOKEN) > budget:
                break
            option = (least[start][0] + nodes + calls, start)
            best = option if best is None else min(best, option)
        assert best is not None  # a batch of one is always allowed
        least.append(best)
    cuts: list[tuple[int, int]] = []
    stop = len(tokens)
    while stop:
        cuts.append((least[stop][1], stop))
        stop = least[stop][1]
    return cuts[::-1]
