from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from assay.core.errors import AnalysisError
from assay.stats import fisher_exact, unpaired_difference

SIDES = ("two-sided", "greater", "less")


@pytest.mark.parametrize(
    "counts", [(48, 80, 56, 70), (1, 10, 9, 10), (0, 10, 20, 20), (3, 7, 5, 90)]
)
def test_newcombe_equals_statsmodels(counts: tuple[int, int, int, int]) -> None:
    hits_a, n_a, hits_b, n_b = counts
    found = unpaired_difference(*counts, level=0.9)
    wanted = confint_proportions_2indep(hits_b, n_b, hits_a, n_a, method="newcomb", alpha=0.1)
    assert (found.low, found.high) == pytest.approx(wanted, abs=1e-10)
    assert found.estimate == pytest.approx(hits_b / n_b - hits_a / n_a)
    assert found.n == n_a + n_b


@pytest.mark.parametrize(
    ("counts", "wanted"),
    # Newcombe (1998), Table II, method 10, cases a, c and h; the first group's share minus the
    # second's.
    [
        ((48, 80, 56, 70), (0.0524, 0.3339)),
        ((3, 10, 9, 10), (0.1705, 0.8090)),
        ((0, 10, 10, 10), (0.6075, 1.0)),
    ],
)
def test_newcombe_published(counts: tuple, wanted: tuple[float, float]) -> None:
    found = unpaired_difference(*counts)
    assert (found.low, found.high) == pytest.approx(wanted, abs=6e-5)


def test_arrays_of_groups() -> None:
    found = unpaired_difference([3, 48], [10, 80], [9, 56], [10, 70])
    assert found.low == pytest.approx([0.1705, 0.0524], abs=6e-5)
    assert found.n.tolist() == [20, 150]


def test_an_empty_group_is_undefined() -> None:
    with pytest.warns(RuntimeWarning, match="no trials"):
        found = unpaired_difference(0, 0, 3, 5)
    assert np.isnan([found.estimate, found.low, found.high]).all()
    with pytest.warns(RuntimeWarning, match="empty"):
        assert np.isnan(fisher_exact([[0, 0], [3, 2]]).p_value)


TABLES = [[[8, 2], [1, 5]], [[3, 7], [5, 90]], [[0, 10], [9, 11]]]


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("table", TABLES)
def test_fisher_equals_scipy(table: list, alternative: str) -> None:
    found = fisher_exact(table, alternative=alternative)
    wanted = stats.fisher_exact(table, alternative=alternative)
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-10)
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-10)


def test_barnard_published() -> None:
    # Mehta & Senchaudhuri (2003): 7 of 15 against 12 of 15.
    found = fisher_exact([[7, 8], [12, 3]], method="barnard", alternative="less")
    assert found.p_value == pytest.approx(0.0341, abs=5e-5)
    assert found.statistic == pytest.approx(-1.894, abs=5e-4)


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("table", [[[2, 10], [7, 4]], [[5, 4], [3, 14]], [[9, 8], [2, 9]]])
def test_barnard_equals_scipy_where_no_tables_tie(table: list, alternative: str) -> None:
    found = fisher_exact(table, method="barnard", alternative=alternative)
    # scipy takes the columns as the groups.
    wanted = stats.barnard_exact(np.transpose(table), alternative=alternative)
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-10)
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-6)


def test_barnard_counts_tables_that_are_equally_extreme() -> None:
    # 8 of 10 against 1 of 6, and its mirror image 2 of 10 against 5 of 6: |z| is the same.
    exact = [fisher_exact(t, method="barnard") for t in ([[8, 2], [1, 5]], [[2, 8], [5, 1]])]
    assert exact[0].p_value == pytest.approx(exact[1].p_value, abs=1e-12)
    common = np.linspace(0, 1, 501)[:, None, None]
    first, second = np.arange(11)[:, None], np.arange(7)
    # z ** 2 is a ratio of whole numbers, compared without division.
    top, total = (6 * first - 10 * second) ** 2, first + second
    extreme = (top * 9 * 7 >= (6 * 8 - 10) ** 2 * total * (16 - total)) & (top > 0)
    mass = stats.binom.pmf(first, 10, common) * stats.binom.pmf(second, 6, common)
    wanted = mass[:, extreme].sum(axis=1).max()
    assert exact[0].p_value == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("method", ["fisher", "barnard"])
@pytest.mark.parametrize("alternative", SIDES)
def test_no_table_beats_the_attainable_p(method: str, alternative: str) -> None:
    right, n1, n2 = 4, 5, 6
    options = {"method": method, "alternative": alternative}
    tables = [[[hits, n1 - hits], [right - hits, n2 - right + hits]] for hits in range(right + 1)]
    if method == "barnard":
        tables = [
            [[x, n1 - x], [y, n2 - y]] for x, y in itertools.product(range(n1 + 1), range(n2 + 1))
        ]
    found = [fisher_exact(table, **options) for table in tables]
    least = min(result.p_value for result in found)
    assert all(result.attainable_p == pytest.approx(least, abs=1e-9) for result in found)


@pytest.mark.parametrize("method", ["fisher", "barnard"])
def test_all_right_is_no_difference(method: str) -> None:
    assert fisher_exact([[5, 0], [9, 0]], method=method).p_value == 1


@pytest.mark.parametrize("table", [[[1, 2]], [[1, -1], [1, 1]], [[1, 0.5], [1, 1]]])
def test_bad_tables_are_refused(table: list) -> None:
    with pytest.raises(AnalysisError):
        fisher_exact(table)


def test_bad_options_are_refused() -> None:
    with pytest.raises(AnalysisError):
        fisher_exact([[1, 1], [1, 1]], method="chi2")
    with pytest.raises(AnalysisError):
        unpaired_difference(5, 4, 1, 2)
