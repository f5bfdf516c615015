from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import MISSING, POOLED
from assay.leaderboard.mean_squares import COMPONENTS, components
from assay.leaderboard.variance import variance, variance_table

from .builders import build
from .simulated import bits, grid

KEYS = ("gen|f|p0", "gen|f|p1", "gen|g|p0", "ll|cloze_plain")


def test_intervals_cover_the_components_of_the_population() -> None:
    population = bits(3, 60_000, seed=5)[:, :, [0, 7, 13, 24]]
    truth = components(population.astype(float))[:7]
    covered = np.zeros(7)
    runs = 300
    for run in range(runs):
        data = build(population[:, 200 * run : 200 * run + 200], keys=KEYS, reference=KEYS[0])
        found = variance(data, data.scope(POOLED), draws=300, seed=run)
        covered += (found.low[:7] <= truth) & (truth <= found.high[:7])
    # Below 273 of 300 would be less than 95 % beyond doubt (one in a thousand); the variance of
    # a handful of fixed effects is skewed, and is allowed 90 %.
    assert (covered >= 258).all(), covered
    assert (covered[3:] >= 273).all(), covered


def test_an_aa_run_splits_noise_from_the_three_way_term() -> None:
    data = grid(4, 80, seed=1)
    without = variance(data, data.scope(POOLED), draws=50)
    found = variance(data, data.scope(POOLED), flip_rate=0.1, draws=50)
    assert np.isnan(without.estimate[7])
    assert found.estimate[7] == pytest.approx(0.05)
    assert found.estimate[6] + 0.05 == pytest.approx(without.estimate[6])
    assert found.estimate[:6].tolist() == without.estimate[:6].tolist()
    assert "which without an A/A run includes noise" in without.reading
    assert "includes noise" not in found.reading


def test_only_complete_items_count_and_their_share_is_told() -> None:
    data = grid(3, 50, seed=2)
    values = data.values.copy()
    values[1, :10, 3] = MISSING
    cut = replace(data, values=values)
    found = variance(cut, cut.scope(POOLED), draws=50)
    assert found.items == 40
    assert found.complete_share == pytest.approx(0.8)
    assert "40 complete items (80.0 % of all)" in found.reading
    wanted = components(data.right[:, 10:].astype(float))
    assert found.estimate[:7] == pytest.approx(wanted[:7])


def test_clusters_are_drawn_whole() -> None:
    # Every item four times over: the error is that of the quarter of the items.
    data = grid(3, 40, seed=3)
    values = np.repeat(data.values, 4, axis=1)
    copies = build(
        values, keys=[c.key for c in data.configurations], reference="gen|letter_plain|p0"
    )
    named = tuple(replace(x, cluster=f"c{k // 4}") for k, x in enumerate(copies.items))
    clustered = replace(copies, items=named)
    width = {
        name: np.ptp([found.low[3], found.high[3]])
        for name, found in {
            "one": variance(data, data.scope(POOLED), draws=2000),
            "clustered": variance(clustered, clustered.scope(POOLED), draws=2000),
            "ignored": variance(copies, copies.scope(POOLED), draws=2000),
        }.items()
    }
    assert width["clustered"] == pytest.approx(width["one"], rel=0.1)
    assert width["ignored"] < 0.6 * width["one"]


def test_slices_of_models_do_not_change_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    data = grid(5, 40, seed=4)
    whole = variance(data, data.scope(POOLED), draws=100)
    monkeypatch.setattr("assay.leaderboard.variance._MODELS_AT_ONCE", 2)
    sliced = variance(data, data.scope(POOLED), draws=100)
    assert sliced.low[:7] == pytest.approx(whole.low[:7], abs=1e-12)


@pytest.mark.parametrize("shape", [(1, 20, 5), (3, 1, 5)])
def test_a_design_that_is_too_small_is_unknown(shape: tuple[int, int, int]) -> None:
    data = build(np.ones(shape))
    found = variance(data, data.scope(POOLED))
    assert np.isnan(found.estimate).all()
    assert np.isnan(found.low).all()
    assert "unknown" in found.reading
    assert json.dumps(found.as_json())


def test_nothing_varies() -> None:
    data = build(np.ones((3, 20, 5)))
    found = variance(data, data.scope(POOLED), draws=50)
    assert found.estimate[:7].tolist() == [0] * 7
    assert np.isnan(found.share).all()
    assert "no outcome varies" in found.reading


def test_an_impossible_flip_rate_is_refused() -> None:
    data = build(np.ones((3, 20, 5)))
    with pytest.raises(AnalysisError, match="no share"):
        variance(data, data.scope(POOLED), flip_rate=1.2)


def test_table_and_json_hold_every_component() -> None:
    data = grid(3, 30, seed=6)
    found = variance(data, data.scope(POOLED), draws=50)
    table = variance_table(found)
    assert table["component"].tolist() == list(COMPONENTS)
    assert table["share"].sum() == pytest.approx(1)
    assert found.as_json()["estimate"][7] is None


def test_few_clusters_have_no_interval() -> None:
    data = grid(3, 40, seed=7)
    items = tuple(replace(x, cluster=f"c{k % 5}") for k, x in enumerate(data.items))
    few = replace(data, items=items)
    found = variance(few, few.scope(POOLED), draws=50)
    assert np.isfinite(found.estimate[:7]).all()
    assert np.isnan([*found.low, *found.high]).all()
    assert "too few clusters of items for an interval" in found.reading
