"""The ratio of two totals: all swaps by hand, the jackknife by hand, and its error rate."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats import paired_ratio


def test_bounds_are_where_swaps_stop_rejecting() -> None:
    rng = np.random.default_rng(0)
    before, after = rng.lognormal(0, 1, (2, 8))
    found = paired_ratio(before, after)
    signs = np.array(list(itertools.product((1, -1), repeat=8)))

    def p_values(ratio: float) -> tuple[float, float]:
        gaps = after - ratio * before
        swapped = signs @ gaps
        return np.mean(swapped >= gaps.sum() - 1e-12), np.mean(swapped <= gaps.sum() + 1e-12)

    # A ratio just inside is not rejected at 2.5 % on its side, and one just outside is.
    assert p_values(found.high * 0.9999)[1] > 0.025 >= p_values(found.high * 1.0001)[1]
    assert p_values(found.low * 1.0001)[0] > 0.025 >= p_values(found.low * 0.9999)[0]
    assert found.estimate == pytest.approx(after.sum() / before.sum())


def test_many_clusters_are_jackknifed() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.lognormal(0, 1, (2, 300))
    found = paired_ratio(before, after)
    logs = [np.log(np.delete(after, k).sum() / np.delete(before, k).sum()) for k in range(300)]
    error = np.sqrt(299 / 300 * ((logs - np.mean(logs)) ** 2).sum())
    reach = stats.t.ppf(0.975, 299) * error
    assert found.high == pytest.approx(found.estimate * np.exp(reach), rel=1e-9)
    assert found.low == pytest.approx(found.estimate * np.exp(-reach), rel=1e-9)


def test_drawn_swaps_agree_with_the_jackknife_where_both_hold() -> None:
    rng = np.random.default_rng(2)
    scale = rng.lognormal(0, 0.3, 150)
    before, after = scale * rng.lognormal(0, 0.2, (2, 150))
    drawn = paired_ratio(before, after)
    logs = [np.log(np.delete(after, k).sum() / np.delete(before, k).sum()) for k in range(150)]
    error = np.sqrt(149 / 150 * ((logs - np.mean(logs)) ** 2).sum())
    assert np.log(drawn.high / drawn.estimate) == pytest.approx(1.976 * error, rel=0.1)
    assert paired_ratio(before, after) == drawn


@pytest.mark.parametrize("clusters", [7, 12])
def test_the_upper_bound_is_too_low_as_often_as_it_says(clusters: int) -> None:
    rng = np.random.default_rng(3)
    runs, wrong = 800, 0
    for _ in range(runs):
        before, after = rng.lognormal(0, 1, clusters) * rng.lognormal(0, 0.5, (2, clusters))
        wrong += paired_ratio(before, after).high < 1
    assert stats.binom.sf(wrong - 1, runs, 0.025) > 0.005


def test_too_few_clusters_and_nothing_taken() -> None:
    with pytest.warns(RuntimeWarning, match="5 clusters"):
        found = paired_ratio([1] * 5, [2] * 5)
    assert found.estimate == 2
    assert np.isnan(found.high)
    with pytest.warns(RuntimeWarning):
        assert np.isnan(paired_ratio([1] * 8, [0] * 8).high)


def test_clusters_on_which_neither_took_anything_change_nothing() -> None:
    before, after = [3.0, 1, 2, 5, 4, 2, 3], [4.0, 1, 3, 5, 5, 3, 2]
    assert paired_ratio([*before, 0, 0], [*after, 0, 0]) == paired_ratio(before, after)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ([1, -1], [1, 1], "not negative"),
        ([0, 0], [1, 1], "positive"),
        ([1, np.nan], [1, 1], "finite"),
        ([1, 1], [1], "two amounts"),
    ],
)
def test_bad_amounts_are_refused(before: list, after: list, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        paired_ratio(before, after)
