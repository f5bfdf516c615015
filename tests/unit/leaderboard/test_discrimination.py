from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assay.leaderboard.correctness import MISSING, POOLED
from assay.leaderboard.discrimination import (
    correlation,
    discrimination,
    discrimination_table,
)
from assay.leaderboard.items import fragility_table

from .builders import build
from .simulated import grid


def test_undefined_items_are_excluded_and_counted() -> None:
    data = grid(6, 150, seed=1)
    found = discrimination(data, data.scope(POOLED), twin_draws=0, draws=200)
    table = discrimination_table(data, data.scope(POOLED))
    at_reference = data.right[:, :, data.reference]
    same = at_reference.all(axis=0) | ~at_reference.any(axis=0)
    assert found.undefined == same.sum() == table["discrimination"].isna().sum()
    assert found.items == 150 - found.undefined
    kept = table.dropna()
    wanted = stats.pearsonr(kept["discrimination"], kept["fragility"]).statistic
    assert found.correlation == pytest.approx(wanted, abs=1e-12)
    assert found.low < found.correlation < found.high
    zeros = stats.pearsonr(table["discrimination"].fillna(0), table["fragility"]).statistic
    assert found.zero_coded == pytest.approx(zeros, abs=1e-12)


def test_zeros_for_undefined_items_make_a_correlation_out_of_nothing() -> None:
    # No configuration matters to anybody: an item that flips does so by chance.
    found = []
    for seed in range(4):
        data = grid(12, 250, seed=seed, interaction=0.0, effect=0.0)
        found.append(discrimination(data, data.scope(POOLED), twin_draws=0, draws=20))
    zeros, excluded = (
        np.mean([getattr(x, n) for x in found]) for n in ("zero_coded", "correlation")
    )
    assert zeros > excluded + 0.25


REFERENCE = "gen|letter_plain|p0"


def test_fragility_is_that_of_the_item_table() -> None:
    data = grid(4, 40, seed=2)
    found = discrimination_table(data, data.scope(POOLED))
    assert found["fragility"].tolist() == fragility_table(data)["fragility"].tolist()


def test_the_twin_covers_data_without_interaction_and_differs_from_zero() -> None:
    data = grid(8, 200, seed=3, interaction=0.0)
    found = discrimination(data, data.scope(POOLED), twin_draws=40, draws=200)
    assert found.twin_low <= found.correlation <= found.twin_high
    assert "simulated models" in found.reading


def test_items_that_were_not_seen_by_every_model_have_no_discrimination() -> None:
    data = grid(4, 30, seed=4)
    values = data.values.copy()
    values[2, :5, data.reference] = MISSING
    cut = build(values, keys=[c.key for c in data.configurations], reference=REFERENCE)
    assert len(discrimination_table(cut, cut.scope(POOLED))) == 25


@pytest.mark.parametrize(
    "values", [np.ones((3, 20, 5)), np.zeros((1, 20, 5)), np.ones((2, 1, 5)) * MISSING]
)
def test_nothing_to_correlate_is_unknown(values: np.ndarray) -> None:
    data = build(values)
    found = discrimination(data, data.scope(POOLED))
    assert np.isnan([found.correlation, found.low, found.twin]).all()
    assert "unknown" in found.reading
    assert json.dumps(found.as_json())


def test_correlation_is_pearsons() -> None:
    x, y = np.random.default_rng(5).normal(size=(2, 20))
    assert correlation(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert np.isnan(correlation(x, np.ones(20)))
    assert np.isnan(correlation(x[:2], y[:2]))


def test_same_seed_same_numbers() -> None:
    data = grid(4, 60, seed=6)
    one, two = (
        discrimination(data, data.scope(POOLED), twin_draws=5, draws=100, seed=3) for _ in range(2)
    )
    assert one == two


def test_few_clusters_have_no_interval() -> None:
    data = grid(4, 60, seed=7)
    items = tuple(replace(x, cluster=f"c{k % 5}") for k, x in enumerate(data.items))
    few = replace(data, items=items)
    found = discrimination(few, few.scope(POOLED), twin_draws=0, draws=50)
    assert np.isfinite(found.correlation)
    assert np.isnan([found.low, found.high]).all()
    assert "too few clusters of items for an interval" in found.reading
