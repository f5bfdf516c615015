from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats import PairedCounts, mcnemar_exact
from assay.stats.permutation import permutation_test, shuffles, sign_flips

HEIGHTS = np.array([3.1, 2.9, 3.3, 1.2, 1.4, 2.9, 3.0])


def gap(order: np.ndarray) -> float:
    return float(HEIGHTS[order[:3]].mean() - HEIGHTS[order[3:]].mean())


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_exact_test_equals_scipy(alternative: str) -> None:
    found = permutation_test(
        gap, shuffles(7), observed=gap(np.arange(7)), seed=1, alternative=alternative
    )
    wanted = stats.permutation_test(
        (HEIGHTS[:3], HEIGHTS[3:]),
        lambda x, y: x.mean() - y.mean(),
        n_resamples=np.inf,
        alternative=alternative,
        vectorized=False,
    )
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-10)
    assert found.n == 5040
    assert found.method == f"exact permutation test, {alternative}"


@pytest.mark.parametrize(("b", "c"), [(6, 0), (5, 0), (7, 2), (3, 3), (1, 8)])
def test_sign_flips_of_paired_bits_are_the_exact_mcnemar_test(b: int, c: int) -> None:
    differences = np.repeat([1, -1], [b, c])
    found = permutation_test(
        lambda signs: signs @ differences,
        sign_flips(b + c),
        observed=b - c,
        seed=1,
        alternative="two-sided",
    )
    wanted = mcnemar_exact(PairedCounts(5, b, c, 5))
    assert found.p_value == pytest.approx(wanted.p_value, abs=1e-12)
    assert found.attainable_p == pytest.approx(wanted.attainable_p, abs=1e-12)


def test_drawn_arrangements_approach_the_exact_test() -> None:
    exact = permutation_test(gap, shuffles(7), observed=gap(np.arange(7)), seed=1)
    drawn = permutation_test(
        gap, shuffles(7, limit=100), observed=gap(np.arange(7)), draws=4000, seed=1
    )
    error = np.sqrt(exact.p_value * (1 - exact.p_value) / 4000)
    assert abs(drawn.p_value - exact.p_value) < 4 * error
    assert drawn.method == "Monte Carlo permutation test, greater"


def test_the_data_count_as_an_arrangement() -> None:
    found = permutation_test(lambda x: x, lambda rng: rng.random(), observed=2, draws=99, seed=1)
    assert found.p_value == found.attainable_p == 0.01


def test_size_is_at_most_alpha_where_counting_only_draws_is_not() -> None:
    # The statistic of the data and of 20 draws are exchangeable: every rank is equally likely.
    rng = np.random.default_rng(4)
    observed = rng.random(20_000)
    found = permutation_test(
        lambda x: x, lambda rng: rng.random(20_000), observed=observed, draws=20, seed=5
    )
    rejected = np.mean(found.p_value <= 0.05)
    assert 0.04 < rejected <= 0.05
    naive = np.mean((found.p_value * 21 - 1) / 20 <= 0.05)
    assert naive > 0.09


def test_rounding_does_not_hide_a_tie() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    found = permutation_test(
        lambda order: values[order].sum(), shuffles(6), observed=values.sum(), seed=1
    )
    assert found.p_value == found.attainable_p == 1


def test_each_of_several_statistics_is_tested_by_itself() -> None:
    data = np.arange(4)
    both = permutation_test(lambda order: order[[0, 3]], shuffles(4), observed=data[[0, 3]], seed=1)
    assert both.p_value.tolist() == [1.0, 0.25]
    assert both.attainable_p.tolist() == [0.25, 0.25]


def test_an_undefined_statistic_is_not_a_small_p_value() -> None:
    with pytest.warns(RuntimeWarning, match="undefined for an arrangement"):
        found = permutation_test(lambda rng: np.nan, lambda rng: rng, observed=1, draws=9, seed=1)
    assert np.isnan(found.p_value)
    assert np.isnan(found.attainable_p)


def test_same_seed_same_p_value() -> None:
    def draw(seed: int) -> float:
        return float(
            permutation_test(gap, shuffles(7, limit=1), observed=1.0, draws=200, seed=seed).p_value
        )

    assert draw(3) == draw(3)
    assert len({draw(seed) for seed in range(8)}) > 1


def test_unusable_input_is_refused() -> None:
    with pytest.raises(AnalysisError, match="unknown alternative"):
        permutation_test(gap, shuffles(3), observed=0, seed=1, alternative="both")
    with pytest.raises(AnalysisError, match="at least one draw"):
        permutation_test(gap, shuffles(3), observed=0, draws=0, seed=1)
    with pytest.raises(AnalysisError, match="observed one has shape"):
        permutation_test(lambda x: x, shuffles(3), observed=0, seed=1)
    with pytest.raises(AnalysisError, match="0 arrangements"):
        permutation_test(gap, [], observed=0, seed=1)
