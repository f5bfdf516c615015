"""Padded rows: every request once, prefixes shared where that pays, budgets kept, order ignored."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import ModelError
from assay.core.model import Request
from assay.models.padded import common_prefix, padded_counts, plan_padded, prefix_length
from assay.models.plan import CALL_COST, SLOTS_PER_TOKEN, forwarded

tokens = st.lists(st.integers(0, 3), min_size=1, max_size=12).map(tuple)
asked = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), tokens, st.none() | tokens), max_size=24
)


def _requests(rows: list[tuple[str, tuple[int, ...], tuple[int, ...] | None]]) -> list[Request]:
    return [Request(f"r{n:02d}", group, *ids) for n, (group, *ids) in enumerate(rows)]


@given(asked, st.integers(1, 80), st.booleans(), st.integers(0, 8), st.randoms())
@settings(max_examples=60, deadline=None)
def test_every_request_is_planned_once_and_input_order_changes_nothing(
    rows: list[tuple[str, tuple[int, ...], tuple[int, ...] | None]],
    budget: int,
    share: bool,
    new: int,
    chance: random.Random,
) -> None:
    requests = _requests(rows)
    plan = plan_padded(requests, token_budget=budget, share=share, new_tokens=new)
    planned = [request.id for batch in plan for request in batch.requests]
    assert sorted(planned) == [request.id for request in requests]
    shuffled = list(requests)
    chance.shuffle(shuffled)
    assert plan_padded(shuffled, token_budget=budget, share=share, new_tokens=new) == plan


@given(asked, st.integers(1, 80), st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_no_batch_exceeds_the_budget_unless_it_is_one_request(
    rows: list[tuple[str, tuple[int, ...], tuple[int, ...] | None]], budget: int, new: int
) -> None:
    for batch in plan_padded(_requests(rows), token_budget=budget, new_tokens=new):
        if len(batch.requests) == 1:
            continue
        extra = new if batch.kind == "generate" else 0
        prefix = max(prefix_length(group) for group in batch.groups)
        suffix = max(
            len(forwarded(request)) - prefix_length(group)
            for group in batch.groups
            for request in group
        )
        count = len(batch.requests)
        heads = [forwarded(group[0])[: prefix_length(group)] for group in batch.groups]
        common = common_prefix(heads)
        stems = common + len(batch.groups) * (prefix - common)
        assert stems + count * (suffix + extra) <= budget
        assert count * (prefix + suffix + extra) < (budget + 1) * SLOTS_PER_TOKEN


@given(asked, st.integers(8, 200))
@settings(max_examples=60, deadline=None)
def test_a_group_shares_only_what_all_members_have_before_their_last_context_token(
    rows: list[tuple[str, tuple[int, ...], tuple[int, ...] | None]], budget: int
) -> None:
    for batch in plan_padded(_requests(rows), token_budget=budget):
        for group in batch.groups:
            length = prefix_length(group)
            assert len({request.group for request in group}) == 1
            assert len({forwarded(request)[:length] for request in group}) == 1
            assert all(length < len(request.context) for request in group)


def test_the_kinds_are_kept_apart() -> None:
    both = [Request("g", "x", (1, 2)), Request("s", "x", (1, 2), (3,))]
    assert [batch.kind for batch in plan_padded(both, token_budget=99)] == ["generate", "score"]


def test_a_named_group_is_cut_where_two_prefixes_save_more_than_one() -> None:
    left = [Request(f"l{n}", "item", (0, *[1] * 30, n)) for n in range(3)]
    right = [Request(f"r{n}", "item", (0, *[2] * 30, n)) for n in range(3)]
    (batch,) = plan_padded(left + right, token_budget=999)
    assert sorted(len(group) for group in batch.groups) == [3, 3]
    assert padded_counts([batch]).planned == 1 + 2 * 30 + 6


def test_a_group_is_not_cut_where_its_stem_is_long() -> None:
    stem = tuple(range(40))
    pairs = [Request(f"{n}{m}", "item", (*stem, n, m)) for n in range(3) for m in range(2)]
    other = Request("other", "other item", (99, 98))
    (batch,) = plan_padded([*pairs, other], token_budget=999)
    assert sorted(len(group) for group in batch.groups) == [1, 6]


def test_a_prefix_of_the_whole_shard_is_counted_once_and_does_not_hold_groups_together() -> None:
    shots = tuple(range(40))
    pairs = [Request(f"{n}{m}", "item", (*shots, n, m)) for n in range(3) for m in range(2)]
    (batch,) = plan_padded(pairs, token_budget=999)
    assert [len(group) for group in batch.groups] == [2, 2, 2]
    assert padded_counts([batch]).planned == 40 + 3 + 6


def test_sharing_can_be_switched_off() -> None:
    stem = tuple(range(40))
    pairs = [Request(f"{n}", "item", (*stem, n)) for n in range(4)]
    plan = plan_padded(pairs, token_budget=999, share=False)
    assert padded_counts(plan).planned == 4 * 41
    shared = padded_counts(plan_padded(pairs, token_budget=999))
    assert (shared.planned, shared.padded) == (44, 44)


def test_a_group_larger_than_the_budget_is_split_and_still_shares() -> None:
    stem = tuple(range(20))
    many = [Request(f"{n:03d}", "item", (*stem, n, n, n)) for n in range(50)]
    plan = plan_padded(many, token_budget=60)
    assert len(plan) > 1
    assert all(prefix_length(group) == 20 for batch in plan for group in batch.groups)


def test_counts_include_padding() -> None:
    pair = [Request("a", "x", (1, 2, 3, 4)), Request("b", "y", (1, 2))]
    plan = plan_padded(pair, token_budget=99)
    assert padded_counts(plan).padded == 8
    assert padded_counts(plan).planned == 6


@given(st.lists(st.integers(1, 60), min_size=1, max_size=7), st.integers(30, 200))
@settings(max_examples=40, deadline=None)
def test_the_cut_into_batches_is_the_cheapest(lengths: list[int], budget: int) -> None:
    requests = [Request(f"{n}", f"{n}", (n, *[7] * (k - 1))) for n, k in enumerate(lengths)]
    plan = plan_padded(requests, token_budget=budget)
    cost = padded_counts(plan).padded + 2 * CALL_COST * len(plan)
    ordered = sorted(lengths, reverse=True)
    for joins in product([True, False], repeat=len(lengths) - 1):
        cut: list[list[int]] = [[ordered[0]]]
        for length, joined in zip(ordered[1:], joins, strict=True):
            cut = [*cut[:-1], [*cut[-1], length]] if joined else [*cut, [length]]
        padded = [max(batch) * len(batch) for batch in cut]
        if all(p <= budget or len(b) == 1 for p, b in zip(padded, cut, strict=True)):
            assert cost <= sum(padded) + 2 * CALL_COST * len(cut)


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
        plan_padded(wrong, token_budget=99)
