from __future__ import annotations

import numpy as np
import pytest

from assay.leaderboard.discrimination import point_biserial
from assay.leaderboard.subsets import (
    RULES,
    STEPS,
    RankingRecord,
    choose,
    judge_subsets,
    pairs_of,
    tied_places,
)

RIGHT = np.random.default_rng(0).random((6, 60)) < np.linspace(0.2, 0.9, 60)
STRATA = np.repeat([0, 1, 2], 20)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", [1, 7, 60])
def test_exactly_k_items_are_chosen(rule: str, k: int) -> None:
    chosen = choose(rule, RIGHT, STRATA, k=k, repeats=5, rng=np.random.default_rng(1))
    assert chosen.sum(axis=1).tolist() == [k] * 5


def test_discriminating_items_are_the_largest_and_equals_take_turns() -> None:
    power = point_biserial(RIGHT)
    chosen = choose(
        "discriminating", RIGHT, STRATA, k=10, repeats=200, rng=np.random.default_rng(1)
    )
    for row in chosen:
        assert power[row].min() >= np.nanmax(power[~row])
    unique, tied = tied_places(power, 10)
    assert (chosen.mean(axis=0) == 1).sum() == unique
    if tied:
        assert ((chosen.mean(axis=0) > 0) & (chosen.mean(axis=0) < 1)).sum() == tied


def test_a_stratified_choice_is_spread_over_benchmarks_and_difficulty() -> None:
    chosen = choose("stratified", RIGHT, STRATA, k=12, repeats=50, rng=np.random.default_rng(1))
    assert (chosen.reshape(50, 3, 20).sum(axis=2) == 4).all()
    loose = choose("random", RIGHT, STRATA, k=12, repeats=50, rng=np.random.default_rng(1))
    difficulty = RIGHT.mean(axis=0)
    spread = [np.std([difficulty[row].mean() for row in rows]) for rows in (chosen, loose)]
    assert spread[0] < spread[1] / 2
    assert chosen.mean(axis=0).min() > 0  # every item can be chosen


def test_pairs_are_judged_by_brute_force() -> None:
    chosen = choose("random", RIGHT, STRATA, k=15, repeats=4, rng=np.random.default_rng(2))
    held_out = np.array([True, False, False, True, False, False])
    record = RankingRecord.empty()
    judge_subsets(record, [(chosen[:1], held_out), (chosen[1:], held_out)], iter([RIGHT, ~RIGHT]))
    right, total = 0.0, 0
    for cells in (RIGHT, ~RIGHT):
        for row in chosen:
            for a, b in zip(*pairs_of(held_out), strict=True):
                gap = cells[a, ~row].mean() - cells[b, ~row].mean()
                lead = cells[a, row].mean() - cells[b, row].mean()
                if cells[a, ~row].sum() != cells[b, ~row].sum():
                    total += 1
                    right += 0.5 if np.isclose(lead, 0) else float(lead * gap > 0)
    assert record.total.sum() == total
    assert record.share_right == pytest.approx(right / total)


def test_pairs_hold_a_model_that_was_held_out() -> None:
    first, second = pairs_of(np.array([True, False, False]))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (0, 2)]


def test_the_smallest_gap_is_where_the_share_reaches_80_percent() -> None:
    record = RankingRecord.empty()
    gaps = (np.arange(100) + 0.5) / STEPS
    rng = np.random.default_rng(0)
    for gap in gaps:
        # Right with probability .5 + 10 gap: .8 at three points.
        lead = np.where(rng.random(4000) < np.minimum(0.5 + 10 * gap, 1), 1.0, -1.0)
        record.add(lead, np.full(4000, gap))
    assert record.smallest_gap == pytest.approx(0.03, abs=0.003)


def test_one_lucky_step_does_not_decide() -> None:
    record = RankingRecord.empty()
    record.add(np.ones(1), np.full(1, 0.001))
    record.add(-np.ones(50), np.full(50, 0.02))
    assert np.isnan(record.smallest_gap)
    record.add(np.ones(50), np.full(50, 0.3))
    assert record.smallest_gap == pytest.approx(0.3)


def test_equals_on_the_chosen_items_are_right_half_the_time_and_no_gap_is_no_pair() -> None:
    record = RankingRecord.empty()
    assert np.isnan([record.share_right, record.smallest_gap]).all()
    record.add(np.array([0.0, 1.0, 1.0]), np.array([0.1, 0.0, 1.0]))
    assert record.total.sum() == 2
    assert record.share_right == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("power", "k", "wanted"),
    [
        ([3, 2, 1], 2, (2, 0)),
        ([1, 1, 1], 2, (0, 3)),
        ([2, 1, 1], 3, (3, 0)),
        ([1, np.nan], 2, (2, 0)),
    ],
)
def test_tied_places(power: list[float], k: int, wanted: tuple[int, int]) -> None:
    assert tied_places(np.array(power, float), k) == wanted
