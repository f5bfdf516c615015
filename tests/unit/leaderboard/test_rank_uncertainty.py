from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

from assay.leaderboard.correctness import POOLED
from assay.leaderboard.cube import Cube
from assay.leaderboard.rank_uncertainty import (
    leave_one_benchmark_out,
    rank_probability,
    rank_probability_table,
    rank_uncertainty,
)
from assay.leaderboard.ranks import ranking

from .builders import build
from .simulated import grid


def test_rank_probability_is_that_of_all_bootstrap_samples() -> None:
    values = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0]])
    data = build(np.repeat(values[:, :, None], 5, axis=2))
    counts = np.zeros((3, 3))
    for drawn in np.array(np.meshgrid(*[range(4)] * 4)).reshape(4, -1).T:
        ranks = rankdata(-values[:, drawn].sum(axis=1), method="min")
        counts[range(3), ranks - 1] += 1
    found = rank_probability(Cube.of(data, data.scope(POOLED)), draws=40_000, seed=1)
    assert found == pytest.approx(counts / counts[0].sum(), abs=0.01)
    assert found.sum(axis=1) == pytest.approx(1)


def test_confidence_sets_hold_the_true_ranks() -> None:
    covered, apart = 0, 0
    for seed in range(60):
        data = grid(4, 120, seed=seed)
        found = rank_uncertainty(data, data.scope(POOLED), draws=400, splits=1, seed=seed)
        truth = np.arange(1, 5)  # the first model is the best
        covered += bool(((found.low <= truth) & (truth <= found.high)).all())
        apart += int(found.high[0] < 4)
    assert covered >= 51  # fewer would be below 95 % with an error of one in a thousand
    assert apart >= 30


def test_ranks_are_those_of_the_leaderboard() -> None:
    data = grid(5, 100, seed=1)
    found = rank_uncertainty(data, data.scope(POOLED), draws=200, splits=3)
    wanted = ranking(data, data.scope(POOLED))
    assert found.rank.tolist() == wanted.ranks[:, data.reference].tolist()
    leader = found.models[int(np.argmin(found.rank))]
    assert f"{leader} is first in" in found.reading
    assert "on halves of 50 items" in found.reading
    table = rank_probability_table(found)
    assert table.groupby("model")["probability"].sum().tolist() == pytest.approx([1] * 5)
    assert (table["low"] <= table["observed_rank"]).all()
    assert json.dumps(found.as_json())


def test_the_bootstrap_gives_each_of_two_equal_models_half() -> None:
    rng = np.random.default_rng(0)
    draws = np.repeat((rng.random((2, 400)) < 0.5)[:, :200, None], 5, axis=2)
    draws[1] = ~draws[0]
    draws[0, :100], draws[1, :100] = 1, 0
    draws[0, 100:], draws[1, 100:] = 0, 1
    data = build(draws)
    found = rank_uncertainty(data, data.scope(POOLED), draws=4000, splits=1)
    assert found.probability[:, 0] == pytest.approx([0.53, 0.53], abs=0.03)  # ties count for both
    assert (found.low == 1).all()
    assert "leave the first rank to m00 and m01" in found.reading


@pytest.mark.parametrize("shape", [(1, 20, 5), (3, 1, 5)])
def test_too_little_to_rank_is_unknown(shape: tuple[int, int, int]) -> None:
    data = build(np.ones(shape))
    found = rank_uncertainty(data, data.scope(POOLED))
    assert "unknown" in found.reading
    assert rank_probability_table(found).empty
    assert json.dumps(found.as_json())


def test_with_few_items_every_model_may_be_first() -> None:
    values = np.zeros((3, 4, 5))
    values[0] = 1
    data = build(values)
    found = rank_uncertainty(data, data.scope(POOLED), draws=100, splits=2)
    assert found.low.tolist() == [1, 1, 1]
    assert "leave the first rank to m00, m01 and m02" in found.reading


class TestLeaveOneBenchmarkOut:
    def test_by_hand(self) -> None:
        # m00 leads on a by three items, m01 on b by two: without a, m01 leads.
        values = np.zeros((2, 8, 2))
        values[0, :3] = 1
        values[1, 6:] = 1
        data = build(values, benchmarks=["a"] * 5 + ["b"] * 3, keys=["gen|f|p0", "gen|f|p1"])
        found = leave_one_benchmark_out(data)
        assert found.left_out == ("", "a", "b")
        assert found.leader == ("m00", "m01", "m00")
        assert found.items.tolist() == [8, 3, 5]
        assert found.tau_with_all.tolist() == [1, -1, 1]
        assert "m00, changes without a;" in found.reading

    def test_numbers_are_those_of_a_leaderboard_without_the_benchmark(self) -> None:
        names = ["a"] * 30 + ["b"] * 30 + ["c"] * 30
        data = grid(5, 90, seed=2, benchmarks=names)
        found = leave_one_benchmark_out(data)
        keys = [way.key for way in data.configurations]
        rest = build(data.values[:, 30:], keys=keys, reference="gen|letter_plain|p0")
        wanted = ranking(rest, rest.scope(POOLED))
        assert found.champions[1] == len(wanted.champions())
        assert found.lowest_tau[1] == pytest.approx(np.nanmin(wanted.agreement()))
        at = [d.right[:, :, data.reference].sum(axis=1) for d in (data, rest)]
        assert found.tau_with_all[1] == pytest.approx(kendalltau(*at).statistic)
        assert json.dumps(found.as_json())

    def test_one_benchmark_cannot_be_left_out(self) -> None:
        data = grid(3, 20, seed=3)
        found = leave_one_benchmark_out(data)
        assert found.left_out == ("",)
        assert "Nothing can be left out" in found.reading
