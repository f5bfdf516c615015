from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.stats import PairedCounts, mcnemar_exact, nemenyi, pairwise_mcnemar


@pytest.fixture
def outcomes() -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.random((60, 5)) < np.linspace(0.4, 0.7, 5)).astype(int)


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


def test_nemenyi_of_conditions_that_never_differ() -> None:
    with pytest.warns(RuntimeWarning, match="no item tells"):
        found = nemenyi(np.ones((5, 3)))
    assert np.isnan([found.critical_difference, *found.p_values.ravel()]).all()


@pytest.mark.parametrize("table", [[[1, 2]], [[1, np.nan]], [1, 0], [[1], [0]]])
def test_bad_outcomes_are_refused(table: list) -> None:
    with pytest.raises(AnalysisError):
        pairwise_mcnemar(table)


def test_bad_alpha_is_refused() -> None:
    with pytest.raises(AnalysisError, match="alpha"):
        nemenyi([[1, 2, 3]], alpha=0)
