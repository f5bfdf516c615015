from __future__ import annotations

import json

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import MISSING, POOLED
from assay.leaderboard.partial import mask, partial_grid, partial_grid_table

from .builders import build
from .simulated import grid


class TestMask:
    @pytest.mark.parametrize("budget", [0.04, 0.1, 0.33, 0.5, 1.0])
    @pytest.mark.parametrize("shape", [(100, 26), (37, 5), (8, 9)])
    def test_is_balanced_both_ways(self, shape: tuple[int, int], budget: float) -> None:
        asked = mask(shape, budget=budget, seed=1)
        assert asked.sum() == max(round(budget * asked.size), 1)
        assert np.ptp(asked.sum(axis=1)) <= 1
        assert np.ptp(asked.sum(axis=0)) <= 2

    def test_spreads_each_stratum_over_the_configurations(self) -> None:
        strata = np.repeat([0, 1], [30, 70])
        asked = mask((100, 10), budget=0.2, strata=strata, seed=2)
        for stratum in (0, 1):
            counts = asked[strata == stratum].sum(axis=0)
            assert np.ptp(counts) <= 3
            assert counts.min() > 0

    def test_is_random_in_what_goes_with_what(self) -> None:
        found = np.mean([mask((20, 5), budget=0.4, seed=k) for k in range(2000)], axis=0)
        assert found == pytest.approx(np.full((20, 5), 0.4), abs=0.05)
        assert (mask((20, 5), budget=0.4, seed=1) == mask((20, 5), budget=0.4, seed=1)).all()

    @pytest.mark.parametrize("budget", [0, -0.1, 1.1])
    def test_an_impossible_budget_is_refused(self, budget: float) -> None:
        with pytest.raises(AnalysisError, match="budget"):
            mask((5, 5), budget=budget, seed=0)


def test_error_is_measured_against_the_complete_data() -> None:
    data = grid(3, 300, seed=1)
    found = partial_grid(data, data.scope(POOLED), budgets=(0.1, 0.5), repeats=4)
    # Better than plain means, the more so the less was asked, and better with more.
    assert (found.rmse < 0.8 * found.naive_rmse).all()
    assert found.rmse[1] < found.rmse[0]
    assert (found.error[:, [0, 2]] < found.naive_error[:, [0, 2]]).all()
    assert found.worst[0] >= found.error[0].max()
    # A mean of n_c answers out of n without replacement has this error, and no other.
    truth = data.right.mean(axis=1)
    for k, budget in enumerate(found.budgets):
        variance = truth * (1 - truth) * (1 - budget) / (budget * 300)
        assert found.naive_rmse[k] == pytest.approx(np.sqrt(variance.mean()), rel=0.15)


def test_the_whole_grid_has_no_error() -> None:
    data = grid(2, 40, seed=2)
    found = partial_grid(data, data.scope(POOLED), budgets=(1.0,), repeats=1)
    assert np.abs(found.error).max() == pytest.approx(0, abs=1e-12)
    assert found.rmse.max() == pytest.approx(0, abs=1e-12)


def test_only_complete_items_are_masked() -> None:
    data = grid(2, 60, seed=3)
    values = data.values.copy()
    values[1, :20, 4] = MISSING
    keys = [way.key for way in data.configurations]
    cut = build(values, keys=keys, reference="gen|letter_plain|p0")
    found = partial_grid(cut, cut.scope(POOLED), budgets=(0.2,), repeats=1)
    assert found.items == 40
    assert "of 40 items" in found.reading


@pytest.mark.parametrize("values", [np.ones((2, 30, 1)), np.ones((2, 3, 5))])
def test_too_small_a_grid_is_unknown(values: np.ndarray) -> None:
    data = build(values, keys=["gen|f|p0"] if values.shape[2] == 1 else KEYS)
    found = partial_grid(data, data.scope(POOLED))
    assert np.isnan([*found.rmse, *found.worst, *found.error.ravel()]).all()
    assert "unknown" in found.reading
    assert json.dumps(found.as_json())


KEYS = ("gen|f|p0", "gen|f|p1", "gen|g|p0", "gen|g|p1", "ll|cloze_plain")


def test_table_has_a_row_for_each_budget_and_quantile() -> None:
    data = grid(2, 60, seed=4)
    found = partial_grid(data, data.scope(POOLED), budgets=(0.1, 0.2), repeats=1)
    table = partial_grid_table(found)
    assert table["budget"].tolist() == [0.1] * 3 + [0.2] * 3
    assert table["error"].to_numpy() == pytest.approx(found.error.ravel())
    again = partial_grid(data, data.scope(POOLED), budgets=(0.1, 0.2), repeats=1)
    assert found.as_json() == again.as_json()


def test_of_many_models_some_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.leaderboard.partial._MOST_MODELS", 3)
    data = grid(6, 60, seed=5)
    found = partial_grid(data, data.scope(POOLED), budgets=(0.2,), repeats=1)
    assert found.models == 3
    rows = [0, 2, 5]  # best, middle and worst of the generator
    order = np.argsort(-data.right.sum(axis=(1, 2)), kind="stable")
    values = data.values[np.sort(order[rows])]
    some = build(values, keys=[w.key for w in data.configurations], reference="gen|letter_plain|p0")
    wanted = partial_grid(some, some.scope(POOLED), budgets=(0.2,), repeats=1)
    assert found.rmse.tolist() == wanted.rmse.tolist()
