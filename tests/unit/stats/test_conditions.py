from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q

from assay.core.errors import AnalysisError
from assay.stats import PairedCounts, mcnemar_exact
from assay.stats.conditions import cochran_q, friedman, nemenyi, pairwise_mcnemar


@pytest.fixture
def outcomes() -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.random((60, 5)) < np.linspace(0.4, 0.7, 5)).astype(int)


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 5, (20, 6)).astype(float)


def test_q_equals_statsmodels(outcomes: np.ndarray) -> None:
    found, wanted = cochran_q(outcomes), cochrans_q(outcomes)
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-10)
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-10)
    assert found.n == 60


def test_q_of_two_conditions_is_mcnemar_without_continuity() -> None:
    table = [[1, 0]] * 15 + [[0, 1]] * 6 + [[1, 1]] * 9
    assert cochran_q(table).statistic == pytest.approx((15 - 6) ** 2 / 21)


def test_items_that_do_not_vary_change_nothing(outcomes: np.ndarray) -> None:
    padded = np.vstack([outcomes, np.ones((30, 5)), np.zeros((30, 5))])
    assert cochran_q(padded).p_value == pytest.approx(cochran_q(outcomes).p_value, abs=1e-12)


def test_nothing_beats_the_attainable_p(outcomes: np.ndarray) -> None:
    rng = np.random.default_rng(2)
    least = cochran_q(outcomes[:8]).attainable_p
    found = [cochran_q(rng.permuted(outcomes[:8], axis=1)).p_value for _ in range(300)]
    assert least <= min(found)
    assert cochran_q(np.sort(outcomes[:8], axis=1)).p_value == pytest.approx(least)


def test_friedman_equals_scipy_with_ties(scores: np.ndarray) -> None:
    found, wanted = friedman(scores), stats.friedmanchisquare(*scores.T)
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-10)
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-10)
    assert found.attainable_p < found.p_value


def test_friedman_on_bits_is_cochran(outcomes: np.ndarray) -> None:
    assert friedman(outcomes).statistic == pytest.approx(cochran_q(outcomes).statistic, abs=1e-10)


@pytest.mark.parametrize("test", [cochran_q, friedman, nemenyi])
@pytest.mark.parametrize("table", [np.ones((5, 3)), np.empty((0, 3))])
def test_conditions_that_never_differ(test, table: np.ndarray) -> None:
    with pytest.warns(RuntimeWarning, match="no item tells"):
        found = test(table)
    assert np.isnan(found.p_values if test is nemenyi else found.p_value).all()


@pytest.mark.parametrize(
    ("conditions", "alpha", "quantile"),
    # Demšar (2006), table 5a.
    [(2, 0.05, 1.960), (5, 0.05, 2.728), (10, 0.05, 3.164), (2, 0.10, 1.645), (10, 0.10, 2.920)],
)
def test_nemenyi_has_the_published_quantiles(
    conditions: int, alpha: float, quantile: float
) -> None:
    table = np.random.default_rng(3).normal(size=(12, conditions))
    error = np.sqrt(conditions * (conditions + 1) / (6 * 12))
    assert nemenyi(table, alpha=alpha).critical_difference == pytest.approx(
        quantile * error, abs=6e-4 * error
    )


def test_nemenyi_p_is_alpha_at_the_critical_difference() -> None:
    table = np.random.default_rng(4).normal(size=(15, 4)) + np.arange(4)
    found = nemenyi(table)
    alpha = found.p_values[0, 2]
    gap = abs(found.mean_ranks[0] - found.mean_ranks[2])
    assert nemenyi(table, alpha=alpha).critical_difference == pytest.approx(gap, abs=1e-6)
    assert np.array_equal(found.p_values, found.p_values.T)
    assert found.p_values.diagonal() == pytest.approx(1)
    assert found.mean_ranks.sum() == pytest.approx(10)


def test_pairs_are_single_tests_with_holm(outcomes: np.ndarray) -> None:
    found = pairwise_mcnemar(outcomes)
    assert len(found.pairs) == found.adjusted.family == 10
    for place, (a, b) in enumerate(found.pairs):
        counts = PairedCounts.of(outcomes[:, a], outcomes[:, b])
        assert (found.counts.b[place], found.counts.c[place]) == (counts.b, counts.c)
        assert found.counts.neither[place] == counts.neither
        assert found.test.p_value[place] == mcnemar_exact(counts).p_value
    assert found.adjusted.p_values.min() == pytest.approx(
        min(1, 10 * np.min(found.test.p_value)), abs=1e-12
    )


@pytest.mark.parametrize("test", [cochran_q, pairwise_mcnemar])
@pytest.mark.parametrize("table", [[[1, 2]], [[1, np.nan]], [1, 0], [[1], [0]]])
def test_bad_outcomes_are_refused(test, table: list) -> None:
    with pytest.raises(AnalysisError):
        test(table)


def test_bad_scores_are_refused() -> None:
    with pytest.raises(AnalysisError, match="sign test"):
        friedman([[1, 2], [2, 1]])
    with pytest.raises(AnalysisError, match="complete"):
        friedman([[1, 2, np.nan]])
    with pytest.raises(AnalysisError, match="alpha"):
        nemenyi([[1, 2, 3]], alpha=0)
