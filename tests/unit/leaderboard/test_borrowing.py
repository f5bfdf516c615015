from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from assay.core.errors import AnalysisError
from assay.leaderboard.borrowing import borrow, borrowed_table
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, POOLED
from assay.leaderboard.partial import mask

from .builders import build

FAMILIES = np.repeat([0, 1], [6, 2])


def rasch(items: int, level: np.ndarray, item_sd: float, rng: np.random.Generator) -> np.ndarray:
    item = item_sd * rng.normal(size=(items, 1))
    return rng.random((items, level.size)) < expit(level + item)


def test_everything_asked_is_the_plain_mean() -> None:
    right = rasch(50, np.linspace(0, 1, 8), 1.0, np.random.default_rng(0))
    found = borrow(right, np.ones_like(right), FAMILIES)
    assert found.accuracy == pytest.approx(right.mean(axis=0), abs=1e-12)
    assert found.naive == pytest.approx(right.mean(axis=0), abs=1e-12)


def test_the_spreads_of_the_generator_are_found() -> None:
    rng = np.random.default_rng(1)
    level = np.array([1.0, 0, 0.5, 1, 0, 0.5, -1, -1])
    right = rasch(4000, level, 1.5, rng)
    found = borrow(right, mask(right.shape, budget=0.5, seed=1), FAMILIES)
    assert found.item_sd == pytest.approx(1.5, abs=0.1)
    # Two families: three levels, twice each, and two equal ones.
    within = np.sqrt(np.mean([0.25, 0.25, 0, 0.25, 0.25, 0, 0, 0]))
    assert found.configuration_sd == pytest.approx(within, abs=0.06)


def test_no_bias_where_items_differ_and_few_are_asked() -> None:
    rng = np.random.default_rng(2)
    level = np.array([2.0, 2.1, 1.9, 2.0, 2.0, 2.0, -1.0, -1.0])
    off = []
    for run in range(60):
        right = rasch(300, level, 1.5, rng)
        asked = mask(right.shape, budget=0.15, seed=run)
        off.append(borrow(right, asked, FAMILIES).accuracy - right.mean(axis=0))
    assert np.mean(off, axis=0) == pytest.approx(np.zeros(8), abs=0.012)


def test_borrowing_beats_the_mean_of_the_answers_seen() -> None:
    rng = np.random.default_rng(3)
    level = np.array([1.0, 1.1, 0.9, 1.0, 1.0, 1.0, -0.5, -0.6])
    borrowed, naive = [], []
    for run in range(40):
        right = rasch(300, level, 1.5, rng)
        found = borrow(right, mask(right.shape, budget=0.15, seed=run), FAMILIES)
        borrowed.append((found.accuracy - right.mean(axis=0)) ** 2)
        naive.append((found.naive - right.mean(axis=0)) ** 2)
    assert np.sqrt(np.mean(borrowed)) < 0.65 * np.sqrt(np.mean(naive))


def test_hard_items_do_not_count_for_the_configuration_that_asked_them() -> None:
    # The first configuration was asked the hard half only, and is no harder than the others.
    rng = np.random.default_rng(4)
    item = np.repeat([-1.5, 1.5], 500)[:, None]
    right = rng.random((1000, 16)) < expit(item + np.zeros(16))
    asked = np.ones((1000, 16), bool)
    asked[500:, 0] = False
    found = borrow(right, asked, np.zeros(16, np.intp))
    truth = right.mean(axis=0)
    assert abs(found.naive[0] - truth[0]) > 0.25
    assert found.accuracy[0] == pytest.approx(truth[0], abs=0.05)
    assert found.accuracy[1:] == pytest.approx(truth[1:], abs=1e-12)


def test_a_configuration_without_answers_has_the_accuracy_of_its_family() -> None:
    rng = np.random.default_rng(5)
    right = rasch(2000, np.array([1.0] * 6 + [-1.0] * 2), 1.0, rng)
    asked = np.ones_like(right)
    asked[:, 7] = False
    found = borrow(right, asked, FAMILIES)
    assert np.isnan(found.naive[7])
    assert found.accuracy[7] == pytest.approx(right[:, 7].mean(), abs=0.04)


@pytest.mark.parametrize("value", [True, False])
def test_a_model_that_is_always_right_or_wrong_stays_inside_zero_and_one(value: bool) -> None:
    right = np.full((40, 8), value)
    found = borrow(right, mask(right.shape, budget=0.3, seed=1), FAMILIES)
    assert np.isfinite(found.accuracy).all()
    assert found.accuracy == pytest.approx(np.full(8, float(value)), abs=0.1)


def test_answers_that_were_not_asked_are_not_read() -> None:
    rng = np.random.default_rng(6)
    right = rasch(100, np.zeros(8), 1.0, rng)
    asked = mask(right.shape, budget=0.3, seed=1)
    one, two = (borrow(x, asked, FAMILIES).accuracy for x in (right, right & asked))
    assert one.tolist() == two.tolist()


def test_nothing_asked_and_wrong_shapes_are_refused() -> None:
    right = np.ones((5, 8), bool)
    with pytest.raises(AnalysisError, match="nothing was asked"):
        borrow(right, ~right, FAMILIES)
    with pytest.raises(AnalysisError, match="differ in shape"):
        borrow(right, right[:, :5], FAMILIES)
    with pytest.raises(AnalysisError, match="differ in shape"):
        borrow(right, right, FAMILIES[:3])


def test_table_of_a_grid_asked_in_part() -> None:
    values = np.random.default_rng(7).integers(0, 2, (3, 40, 5))
    values[2] = MISSING  # a model that was not asked
    values[0, :20, 1] = MISSING
    values[:, 0, 3] = NOT_APPLICABLE
    data = build(values)
    table = borrowed_table(data, data.scope(POOLED))
    assert table["model"].unique().tolist() == ["m00", "m01"]
    assert table["n"].unique().tolist() == [39]
    row = table[(table["model"] == "m00") & (table["configuration"] == "gen|f|p1")].iloc[0]
    assert row["answers"] == 20
    assert row["naive"] == pytest.approx(values[0, 20:, 1].mean())
    whole = table[table["model"] == "m01"]
    assert whole["accuracy"].tolist() == pytest.approx(whole["naive"].tolist())
