from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.leaderboard.band import axes, band_table
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, Correctness

from .builders import GRID, build


def test_by_hand(tiny: Correctness) -> None:
    table = band_table(tiny).set_index(["model", "benchmark"])
    row = table.loc[("m00", "all")]
    assert row["n"] == 4
    assert row["reference"] == 0.75
    assert (row["min"], row["min_configuration"]) == (0.25, "ll|cloze_plain")
    assert (row["max"], row["max_configuration"]) == (0.75, "gen|f|p0")
    assert (row["robust"], row["optimistic"]) == (0.25, 0.75)
    assert row["order_robust"] == 0.5  # items 0 and 1 under gen|f|p0 and gen|f|p1
    assert row["format_robust"] == 0.75  # items 0, 1 and 2 under gen|f|p0 and gen|g|p0
    assert row["scoring_robust"] == 0.25  # item 0 under gen|f|p0 and ll|cloze_plain
    row = table.loc[("m01", "b")]
    assert (row["robust"], row["optimistic"]) == (0, 0.75)
    assert (row["order_robust"], row["format_robust"], row["scoring_robust"]) == (0.5, 0, 0.5)


def test_axes_go_through_the_reference(tiny: Correctness) -> None:
    along = {name: [GRID[k] for k in configurations] for name, configurations in axes(tiny).items()}
    assert along == {
        "order": ["gen|f|p0", "gen|f|p1"],
        "format": ["gen|f|p0", "gen|g|p0"],
        "scoring": ["gen|f|p0", "ll|cloze_plain"],
    }


def test_everything_in_a_row_is_over_the_same_items() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        values = (rng.random((3, 12, 5)) < 0.6).astype(int)
        values[:, rng.random(12) < 0.2, 1] = NOT_APPLICABLE
        values[rng.random((3, 12, 5)) < 0.02] = MISSING
        for row in band_table(build(values)).to_dict("records"):
            if row["n"]:
                ends = [row[k] for k in ("robust", "min", "reference", "max", "optimistic")]
                assert ends == sorted(ends)
                for axis in ("order_robust", "format_robust", "scoring_robust"):
                    assert row["robust"] <= row[axis] <= row["reference"]


def test_an_axis_that_does_not_vary_has_no_value() -> None:
    row = band_table(build([[[1], [0]]], keys=GRID[:1])).iloc[0]
    assert row["robust"] == row["reference"] == row["optimistic"] == 0.5
    assert np.isnan([row["order_robust"], row["format_robust"], row["scoring_robust"]]).all()


def test_without_complete_items_nothing_is_claimed() -> None:
    row = band_table(build([[[1, MISSING, 1, 1, 1]]])).iloc[0]
    assert row["n"] == 0
    assert np.isnan([row["reference"], row["min"], row["robust"], row["optimistic"]]).all()


def test_intervals_are_wilson(tiny: Correctness) -> None:
    row = band_table(tiny, level=0.9).iloc[0]
    wanted = stats.binomtest(1, 4).proportion_ci(0.9, method="wilson")
    assert (row["robust_low"], row["robust_high"]) == pytest.approx((wanted.low, wanted.high))


def test_missing_observations_bound_what_could_be_robust() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random((2, 30, 5)) < 0.8).astype(int)
    seen = truth.copy()
    seen[rng.random(truth.shape) < 0.1] = MISSING
    whole, part = band_table(build(truth)), band_table(build(seen))
    for full, row in zip(whole.to_dict("records"), part.to_dict("records"), strict=True):
        assert row["incomplete"] == 30 - row["n"] > 0
        for name in ("robust", "optimistic"):
            assert row[f"{name}_lowest"] <= full[name] <= row[f"{name}_highest"]
            assert full[f"{name}_lowest"] == full[name] == full[f"{name}_highest"]
        assert row["robust_lowest"] < row["robust_highest"]
