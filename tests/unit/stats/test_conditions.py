from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q

from assay.core.errors import AnalysisError
from assay.stats import cochran_q, friedman


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


@pytest.mark.parametrize("test", [cochran_q, friedman])
@pytest.mark.parametrize("table", [np.ones((5, 3)), np.empty((0, 3))])
def test_conditions_that_never_differ(test, table: np.ndarray) -> None:
    with pytest.warns(RuntimeWarning, match="no item tells"):
        found = test(table)
    assert np.isnan(found.p_value)


def two_sorts(runs: int, items: int, sizes: tuple[int, int], seed: int) -> np.ndarray:
    """Draw outcomes that are equally often 1, alike within each of two sorts of conditions."""
    rng = np.random.default_rng(seed)
    sorts = np.repeat(rng.normal(0, 1.5, (runs, items, 2)), sizes, axis=2)
    return (sorts + rng.normal(0, 0.4, sorts.shape) > 0).astype(int)


def test_unequal_dependence_is_not_taken_for_an_effect() -> None:
    tables = two_sorts(400, 60, (24, 2), seed=5)
    published = np.mean([cochran_q(table).p_value <= 0.05 for table in tables])
    fitted = np.mean([cochran_q(table, dependence="any").p_value <= 0.05 for table in tables])
    assert published > 0.09
    assert fitted <= 0.08
    ranked = np.mean([friedman(t, dependence="any").p_value <= 0.05 for t in tables[:, :, 20:]])
    assert ranked <= 0.08


def test_effects_are_found_under_any_dependence() -> None:
    tables = two_sorts(50, 150, (4, 1), seed=6)
    tables[:, :60, 4] = 0
    assert np.mean([cochran_q(t, dependence="any").p_value <= 0.05 for t in tables]) > 0.8


def test_equal_dependence_needs_no_correction() -> None:
    table = (np.random.default_rng(7).random((4000, 5)) < 0.5).astype(int)
    found, wanted = cochran_q(table, dependence="any"), cochran_q(table)
    assert found.statistic == wanted.statistic
    assert found.p_value == pytest.approx(wanted.p_value, abs=2e-3)
    assert cochran_q(table[:, :2], dependence="any").p_value == pytest.approx(
        cochran_q(table[:, :2]).p_value, abs=1e-12
    )


def test_items_that_all_say_the_same_have_one_degree_of_freedom() -> None:
    found = cochran_q([[1, 0, 0]] * 8, dependence="any")
    assert found.p_value == pytest.approx(stats.chi2.sf(8, 1), abs=1e-12)
    assert found.attainable_p < found.p_value


@pytest.mark.parametrize("table", [[[1, 2]], [[1, np.nan]], [1, 0], [[1], [0]]])
def test_bad_outcomes_are_refused(table: list) -> None:
    with pytest.raises(AnalysisError):
        cochran_q(table)


def test_bad_scores_are_refused() -> None:
    with pytest.raises(AnalysisError, match="sign test"):
        friedman([[1, 2], [2, 1]])
    with pytest.raises(AnalysisError, match="complete"):
        friedman([[1, 2, np.nan]])
    with pytest.raises(AnalysisError, match="dependence"):
        cochran_q([[1, 0]], dependence="some")
