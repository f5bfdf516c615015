"""The plan: every request once, near the floor of the trie, budgets kept, order ignored."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import ModelError
from assay.core.model import Batch, Request
from assay.models.plan import (
    CALL_COST,
    MOST_ROWS,
    SLOTS_PER_TOKEN,
    forwarded,
    plan_batches,
    token_counts,
)
from assay.models.trie import trie_size

tokens = st.lists(st.integers(0, 3), min_size=1, max_size=12).map(tuple)
asked = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), tokens, st.none() | tokens), max_size=24
)
Rows = list[tuple[str, tuple[int, ...], tuple[int, ...] | None]]


def _requests(rows: Rows) -> list[Request]:
    return [Request(f"r{n:02d}", group, *ids) for n, (group, *ids) in enumerate(rows)]


@given(asked, st.integers(1, 80), st.integers(0, 8), st.randoms())
@settings(max_examples=60, deadline=None)
def test_every_request_is_planned_once_and_input_order_changes_nothing(
    rows: Rows, budget: int, new: int, chance: random.Random
) -> None:
    requests = _requests(rows)
    plan = plan_batches(requests, token_budget=budget, new_tokens=new)
    planned = [request.id for batch in plan for request in batch.requests]
    assert sorted(planned) == [request.id for request in requests]
    shuffled = list(requests)
    chance.shuffle(shuffled)
    assert plan_batches(shuffled, token_budget=budget, new_tokens=new) == plan


def _slots(batch: Batch, new: int) -> int:
    """Return the positions that the rows of a batch hold while they decode, all equally wide."""
    longest = max(len(forwarded(request)) for request in batch.requests)
    return len(batch.requests) * (longest + new)


@given(asked, st.integers(1, 80), st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_no_call_exceeds_the_budget_unless_it_is_one_request(
    rows: Rows, budget: int, new: int
) -> None:
    plan = plan_batches(_requests(rows), token_budget=budget, new_tokens=new)
    for batch in plan:
        for group in batch.groups:
            assert len(group) == 1 or trie_size([forwarded(r) for r in group]) <= budget
        if batch.kind == "score":
            assert len(batch.groups) == 1
        elif len(batch.requests) > 1:
            assert _slots(batch, new) <= budget * SLOTS_PER_TOKEN


def test_generations_are_decoded_together_as_far_as_their_rows_fit() -> None:
    requests = [
        Request(f"{item}{order}", str(item), (item, *range(10), order))
        for item in range(9)
        for order in range(100, 104)
    ]
    plan = plan_batches(requests, token_budget=20, new_tokens=8)
    # A group is an item of 11 + 4 nodes; 160 slots hold eight rows of 12 + 8, two items.
    assert [len(group) for batch in plan for group in batch.groups] == [4] * 9
    assert [len(batch.groups) for batch in plan] == [2, 2, 2, 2, 1]
    longer = [*requests, Request("long", "long", (8, *range(200)))]
    plan = plan_batches(longer, token_budget=20, new_tokens=8)
    # Its tokens come before those of the item whose beginning it shares.
    assert [len(batch.requests) for batch in plan] == [8, 8, 8, 8, 1, 4]


def test_however_large_the_budget_a_batch_of_generations_has_a_bound() -> None:
    requests = [Request(f"{n}", "x", (1, 2, n)) for n in range(1200)]
    plan = plan_batches(requests, token_budget=10**6, new_tokens=8)
    assert [len(batch.requests) for batch in plan] == [1200 - 2 * MOST_ROWS, MOST_ROWS, MOST_ROWS]
    apart = [Request(f"{n}", "x", (n, *range(29))) for n in range(1200)]
    joined = plan_batches(apart, token_budget=1000, new_tokens=1)
    assert all(len(batch.requests) <= 1000 * SLOTS_PER_TOKEN // 31 for batch in joined)
    assert len(plan_batches(apart, token_budget=10**6, new_tokens=1)) == 3
    scores = [Request(f"{n}", "x", (1, 2), (n,)) for n in range(1200)]
    assert len(plan_batches(scores, token_budget=10**6)) == 1


@given(st.lists(tokens, min_size=1, max_size=7), st.integers(4, 40))
@settings(max_examples=60, deadline=None)
def test_the_cut_into_batches_is_the_cheapest(
    sequences: list[tuple[int, ...]], budget: int
) -> None:
    requests = [Request(f"{n}", "x", sequence, (0,)) for n, sequence in enumerate(sequences)]
    plan = plan_batches(requests, token_budget=budget)
    cost = token_counts(requests, plan).planned + CALL_COST * len(plan)
    ordered = sorted(sequences)
    for joins in product([True, False], repeat=len(ordered) - 1):
        cut = [[ordered[0]]]
        for sequence, joined in zip(ordered[1:], joins, strict=True):
            cut = [*cut[:-1], [*cut[-1], sequence]] if joined else [*cut, [sequence]]
        sizes = [trie_size(part) for part in cut]
        if all(size <= budget or len(part) == 1 for size, part in zip(sizes, cut, strict=True)):
            assert cost <= sum(sizes) + CALL_COST * len(cut)


def test_the_kinds_are_kept_apart() -> None:
    both = [Request("g", "x", (1, 2)), Request("s", "x", (1, 2), (3,))]
    assert [batch.kind for batch in plan_batches(both, token_budget=99)] == ["generate", "score"]


def test_one_batch_is_at_the_floor_whatever_the_groups_are_called() -> None:
    header = tuple(range(30))
    requests = [
        Request(f"{item}{order}", str(item), (*header, 50 + item, *[item] * 9, order, 7))
        for item in range(4)
        for order in range(6)
    ]
    (batch,) = plan_batches(requests, token_budget=999)
    counts = token_counts(requests, [batch])
    assert (counts.naive, counts.floor) == (24 * 42, 30 + 4 * (10 + 6 * 2))
    assert counts.planned == counts.floor


def test_labels_after_one_context_are_read_from_one_distribution() -> None:
    labels = [Request(f"{n}", "x", (1, 2, 3), (n,)) for n in range(26)]
    (batch,) = plan_batches(labels, token_budget=3)
    assert len(batch.requests) == 26
    assert token_counts(labels, [batch]).planned == 3


def test_groups_are_cut_between_items_rather_than_inside() -> None:
    requests = [
        Request(f"{item}{order}", str(item), (item, *range(20), order))
        for item in range(6)
        for order in range(100, 104)
    ]
    plan = plan_batches(requests, token_budget=60)
    counts = token_counts(requests, plan)
    assert counts.planned == counts.floor
    assert [len(group) for batch in plan for group in batch.groups] == [8, 8, 8]


@pytest.mark.parametrize(
    "wrong",
    [
        [Request("a", "x", (1,)), Request("a", "y", (2,))],
        [Request("a", "x", ())],
        [Request("a", "x", (1,), ())],
    ],
    ids=["same id", "no context", "no continuation"],
)
def test_what_cannot_be_asked_is_refused_by_id(wrong: list[Request]) -> None:
    with pytest.raises(ModelError, match=r"^a: "):
        plan_batches(wrong, token_budget=99)


def test_what_is_asked_again_is_computed_again() -> None:
    first = [Request(f"a{n}", "g", (1, 2, n)) for n in range(3)]
    second = [Request(f"b{n}", "g", (1, 2, n), again=True) for n in range(3)]
    batches = plan_batches([*first, *second], token_budget=64, new_tokens=2)
    assert [[r.id for r in batch.requests] for batch in batches] == [
        ["a0", "a1", "a2"],
        ["b0", "b1", "b2"],
    ]
