"""The windows of a shard: what an engine that schedules by itself is handed at once.

Such an engine (vLLM) batches continuously and finds shared prefixes in its own cache, so that a
plan of padded batches would only hold it back. It is given the requests in the order of their
tokens, in which neighbours share the longest prefixes, and as many at once as the budget allows:
a window is what a killed job has to ask again.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.model import Batch, Request
from assay.models.plan import TokenCounts, check_requests, forwarded, passes, token_counts


def plan_windows(
    requests: Sequence[Request], *, token_budget: int, new_tokens: int = 0
) -> list[Batch]:
    """Plan all requests of a shard for an engine that schedules by itself.

    Parameters
    ----------
    requests : sequence of Request
        The whole shard. Its order does not matter.
    token_budget : int
        Most tokens (prompts and answers, nothing shared) of one window. A request that is longer
        alone still gets a window of its own.
    new_tokens : int
        Tokens that each generation may add, counted in the budget.

    Returns
    -------
    list of Batch
        Every request exactly once, in a group of its own; generations first, each kind by tokens.

    Raises
    ------
    ModelError
        If two requests have the same id, or a context is empty.

    Examples
    --------
    >>> ask = [Request("a", "x", (2, 1)), Request("b", "y", (5,)), Request("c", "x", (2, 1, 1))]
    >>> [[r.id for r in batch.requests] for batch in plan_windows(ask, token_budget=5)]
    [['a', 'c'], ['b']]
    """
    check_requests(requests)
    windows: list[Batch] = []
    for kind, asked in passes(requests):
        extra = new_tokens if kind == "generate" else 0
        ordered = sorted(asked, key=lambda r: (forwarded(r), r.continuation or (), r.id))
        windows += [
            Batch(kind, tuple((request,) for request in window))
            for window in _cut(ordered, token_budget, extra)
        ]
    return windows


def window_counts(requests: Sequence[Request]) -> TokenCounts:
    """Count the prompt tokens of windows: as handed over; what an engine's cache saves it knows."""
    counts = token_counts(requests, [])
    return TokenCounts(counts.naive, counts.floor, counts.naive)


def _cut(ordered: Sequence[Request], budget: int, extra: int) -> list[list[Request]]:
    windows: list[list[Request]] = []
    room = 0
    for request in ordered:
        size = request.length + extra
        if not windows or size > room:
            windows.append([])
            room = budget
        windows[-1].append(request)
        room -= size
    return windows
