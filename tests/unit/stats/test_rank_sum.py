from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats import mann_whitney

SIDES = ["two-sided", "greater", "less"]


@pytest.mark.parametrize("alternative", SIDES)
def test_exact_u_equals_scipy(alternative: str) -> None:
    rng = np.random.default_rng(0)
    for sizes in ((4, 9), (9, 4), (1, 3), (20, 23)):
        x, y = rng.normal(0.5, 1, sizes[0]), rng.normal(0, 1, sizes[1])
        found = mann_whitney(x, y, alternative=alternative)
        wanted = stats.mannwhitneyu(x, y, alternative=alternative, method="exact")
        assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-10)
        assert found.statistic == pytest.approx(wanted.statistic / (sizes[0] * sizes[1]))


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("sizes", [(4, 6), (6, 3)])
def test_exact_u_with_ties_by_brute_force(alternative: str, sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    pooled = rng.integers(0, 4, sum(sizes)).astype(float)
    ranks = stats.rankdata(pooled)
    sums = np.array(
        [ranks[list(s)].sum() for s in itertools.combinations(range(sum(sizes)), sizes[0])]
    )
    observed = ranks[: sizes[0]].sum()
    greater, less = np.mean(sums >= observed), np.mean(sums <= observed)
    wanted = {"two-sided": min(1, 2 * min(greater, less)), "greater": greater, "less": less}
    found = mann_whitney(pooled[: sizes[0]], pooled[sizes[0] :], alternative=alternative)
    assert found.p_value == pytest.approx(wanted[alternative], abs=1e-12)
    top, bottom = np.mean(sums == sums.max()), np.mean(sums == sums.min())
    least = {"two-sided": 2 * min(top, bottom), "greater": top, "less": bottom}
    assert found.attainable_p == pytest.approx(least[alternative], abs=1e-12)


@pytest.mark.parametrize("alternative", SIDES)
def test_large_groups_equal_scipy_with_ties(alternative: str) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 9, 120), rng.integers(0, 8, 150)
    found = mann_whitney(x, y, alternative=alternative)
    wanted = stats.mannwhitneyu(x, y, alternative=alternative, method="asymptotic")
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-12)
    assert np.isnan(found.attainable_p)


def test_area_counts_pairs() -> None:
    x, y = [1, 3, 3], [2, 3]
    wins = np.mean([(a > b) + (a == b) / 2 for a, b in itertools.product(x, y)])
    assert mann_whitney(x, y).statistic == pytest.approx(wins)
    assert mann_whitney([1, 1], [1, 1, 1]).p_value == 1


def test_bad_scores_are_refused() -> None:
    with pytest.raises(AnalysisError):
        mann_whitney([1, np.nan], [1])
    with pytest.raises(AnalysisError):
        mann_whitney([1], [1], alternative="larger")


def test_an_empty_group_is_undefined() -> None:
    with pytest.warns(RuntimeWarning, match="empty"):
        assert np.isnan(mann_whitney([], [1, 2]).statistic)
