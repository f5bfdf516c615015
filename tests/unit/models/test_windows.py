from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ModelError
from assay.core.model import Request
from assay.models.windows import plan_windows

tokens = st.lists(st.integers(0, 3), min_size=1, max_size=9).map(tuple)
requests = st.lists(st.tuples(tokens, st.none() | tokens), max_size=30).map(
    lambda rows: [Request(f"r{n}", "g", *row) for n, row in enumerate(rows)]
)


@given(requests, st.integers(1, 60), st.integers(0, 8), st.randoms(use_true_random=False))
def test_every_request_once_within_the_budget_whatever_the_order(
    asked: list[Request], budget: int, new: int, chance: random.Random
) -> None:
    windows = plan_windows(asked, token_budget=budget, new_tokens=new)
    planned = [request for window in windows for request in window.requests]
    assert sorted(planned, key=lambda r: r.id) == sorted(asked, key=lambda r: r.id)
    for window in windows:
        extra = new if window.kind == "generate" else 0
        size = sum(request.length + extra for request in window.requests)
        assert size <= budget or len(window.requests) == 1
        kinds = {request.continuation is None for request in window.requests}
        assert kinds == {window.kind == "generate"}
    shuffled = list(asked)
    chance.shuffle(shuffled)
    assert plan_windows(shuffled, token_budget=budget, new_tokens=new) == windows


@given(requests)
def test_one_window_a_kind_where_the_budget_allows(asked: list[Request]) -> None:
    windows = plan_windows(asked, token_budget=10_000)
    kinds = {request.continuation is None for request in asked}
    assert len(windows) == len(kinds)


def test_neighbours_share_the_longest_prefix() -> None:
    stem, other = (7,) * 40, (8,) * 40
    asked = [Request(f"{n}", "g", (stem if n % 2 else other) + (n,)) for n in range(10)]
    (window,) = plan_windows(asked, token_budget=10_000)
    assert [r.context[0] for r in window.requests] == [7] * 5 + [8] * 5


def test_two_requests_of_one_id_are_refused() -> None:
    with pytest.raises(ModelError, match="same id"):
        plan_windows([Request("a", "g", (1,)), Request("a", "g", (2,))], token_budget=9)
