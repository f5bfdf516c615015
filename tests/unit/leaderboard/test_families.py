from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import optimize, stats

from assay.leaderboard.correctness import MISSING, Correctness
from assay.leaderboard.families import families, family_accuracy, family_table, share_interval
from support.twin import simulate

from .builders import build
from .grids import study


def test_outcomes_are_counted_by_family(tiny: Correctness) -> None:
    found = families(tiny, tiny.scope("all"))
    assert found.names == ("cloze", "f", "g")
    assert found.sizes.tolist() == [1, 2, 2]
    assert found.hits[0].tolist() == [[1, 2, 2], [0, 2, 2], [0, 1, 1], [0, 0, 0]]
    assert found.complete.all()
    everything = np.ones(4, bool)
    assert found.shares(0, everything)[2].tolist() == [0, 0.5, 0.5]


def test_a_family_counts_once_however_many_orders_it_has(tiny: Correctness) -> None:
    found = family_accuracy(tiny, tiny.scope("all"))
    by_family = [float(cell.estimate) for cell in found.by_family[0]]
    assert by_family == [0.25, 0.625, 0.625]
    assert found.mean[0].estimate == pytest.approx(0.5)
    assert found.configurations == (1, 2, 2)


def test_families_are_compared_on_the_same_items() -> None:
    values = np.ones((1, 4, 5), int)
    values[0, :, 4] = [1, 1, 0, 0]
    values[0, 3, 0] = MISSING
    found = family_accuracy(build(values), build(values).scope("all"))
    assert found.items == (3,)
    assert found.by_family[0][0].estimate == pytest.approx(2 / 3)


def test_without_common_items_nothing_is_claimed() -> None:
    found = family_accuracy(build([[[1, 1, 1, 1, MISSING]]]), build([[[1] * 5]]).scope("all"))
    assert np.isnan(found.mean[0].estimate)
    assert "unknown" in found.reading
    json.dumps(found.as_json(), allow_nan=False)


def test_reading_and_table(tiny: Correctness) -> None:
    found = family_accuracy(tiny, tiny.scope("all"))
    assert "With each of 3 families counting once, m00 has the highest accuracy, 50.0 %" in (
        found.reading
    )
    assert "of 4 items" in found.reading
    table = family_table(found)
    assert table["family"].tolist() == ["cloze", "f", "g", "mean"] * 3
    assert table["configurations"].tolist() == [1, 2, 2, 5] * 3


class TestShareInterval:
    def test_binary_outcomes_of_single_items_give_wilsons_interval(self) -> None:
        outcomes = np.repeat([1.0, 0.0], [30, 10])
        found = share_interval(outcomes, np.arange(40), observations=1, level=0.9)
        z, t = stats.norm.ppf(0.95), stats.t.ppf(0.95, 39)
        size = 39 * (z / t) ** 2  # the variance has one degree of freedom less than items

        def beyond(share: float) -> float:
            return float((0.75 - share) ** 2 - z**2 * share * (1 - share) / size)

        assert found.low == pytest.approx(optimize.brentq(beyond, 0, 0.75), abs=1e-10)
        assert found.high == pytest.approx(optimize.brentq(beyond, 0.75, 1), abs=1e-10)

    def test_a_copied_item_is_no_further_evidence(self) -> None:
        outcomes = np.repeat([1.0, 0.0], [30, 10])
        once = share_interval(outcomes, np.arange(40), observations=1, level=0.95)
        copied = share_interval(
            np.repeat(outcomes, 5), np.repeat(np.arange(40), 5), observations=1, level=0.95
        )
        assert (copied.low, copied.high) == pytest.approx((once.low, once.high))

    def test_equal_shares_leave_an_interval(self) -> None:
        found = share_interval(np.ones(50), np.arange(50), observations=6, level=0.95)
        assert (found.estimate, found.high) == (1, 1)
        assert 0.9 < found.low < 0.95

    def test_one_cluster_has_no_interval(self) -> None:
        found = share_interval(np.ones(50), np.zeros(50, int), observations=1, level=0.95)
        assert found.estimate == 1
        assert np.isnan([found.low, found.high]).all()
        assert np.isnan(share_interval(np.ones(0), np.zeros(0, int), observations=1, level=0.9).low)

    @pytest.mark.parametrize(
        ("theta", "groups", "size"), [(0.3, 60, 1), (2.5, 60, 1), (0.3, 25, 4), (4.0, 40, 1)]
    )
    def test_coverage(self, theta: float, groups: int, size: int) -> None:
        """The truth is the mean over a million items; 300 intervals of level .95."""
        rng = np.random.default_rng(groups)
        difficulty, noise = rng.normal(0, 1.5, 400_000), np.hypot(0.6, 0.6)
        truth = float(stats.norm.cdf((theta - difficulty) / noise).mean())
        missed = 0
        for _ in range(300):
            b = np.repeat(rng.normal(0, 1.5, groups), size)[:, None]
            cell = rng.normal(0, 0.6, b.shape)
            shares = (theta - b + cell + rng.normal(0, 0.6, (b.size, 6)) > 0).mean(axis=1)
            clusters = np.repeat(np.arange(groups), size)
            found = share_interval(shares, clusters, observations=6, level=0.95)
            missed += not found.low <= truth <= found.high
        assert missed < 26


def test_family_intervals_of_a_study_hold_the_estimates() -> None:
    data = study(simulate([1.0, 0.5], items=40, rng=np.random.default_rng(0)))
    found = family_accuracy(data, data.scope("all"))
    for m, row in enumerate(found.by_family):
        for f, name in enumerate(found.families):
            along = [
                k
                for k, way in enumerate(data.configurations)
                if way.format == name or (name == "cloze" and way.scoring == "ll")
            ]
            assert row[f].estimate == pytest.approx(data.right[m][:, along].mean())
            assert row[f].low < row[f].estimate < row[f].high
