from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from assay.core.errors import AnalysisError
from assay.stats import clustered_proportion_ci, proportion_ci

SCIPY_NAME = {"wilson": "wilson", "clopper-pearson": "exact"}


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_equals_scipy_for_every_count(method: str, level: float) -> None:
    for n in (1, 2, 7, 30, 300):
        found = proportion_ci(np.arange(n + 1), n, level=level, method=method)
        for k in range(n + 1):
            wanted = stats.binomtest(k, n).proportion_ci(level, method=SCIPY_NAME[method])
            assert found.estimate[k] == k / n
            assert found.low[k] == pytest.approx(wanted.low, abs=1e-10)
            assert found.high[k] == pytest.approx(wanted.high, abs=1e-10)


def test_jeffreys_is_the_beta_posterior_closed_at_the_ends() -> None:
    inner = proportion_ci(3, 10, method="jeffreys")
    assert inner.low == pytest.approx(stats.beta(3.5, 7.5).ppf(0.025), abs=1e-10)
    assert inner.high == pytest.approx(stats.beta(3.5, 7.5).ppf(0.975), abs=1e-10)
    assert proportion_ci(0, 10, method="jeffreys").low == 0
    assert proportion_ci(10, 10, method="jeffreys").high == 1


@pytest.mark.parametrize(
    ("method", "least"), [("wilson", 0.92), ("jeffreys", 0.90), ("clopper-pearson", 0.95)]
)
def test_coverage_by_enumeration(method: str, least: float) -> None:
    n = 40
    found = proportion_ci(np.arange(n + 1), n, method=method)
    for p in np.linspace(0.05, 0.95, 37):
        covered = (found.low <= p) & (p <= found.high)
        assert stats.binom.pmf(np.arange(n + 1), n, p)[covered].sum() >= least


@pytest.mark.parametrize("method", ["wilson", "jeffreys", "clopper-pearson"])
def test_the_interval_contains_the_estimate(method: str) -> None:
    for n in (1, 5, 1000):
        found = proportion_ci(np.arange(n + 1), n, method=method)
        assert np.all((found.low <= found.estimate) & (found.estimate <= found.high))
        assert np.all((found.low >= 0) & (found.high <= 1))


def test_no_trials_is_undefined_and_says_so() -> None:
    with pytest.warns(RuntimeWarning, match="no trials"):
        found = proportion_ci([0, 1], [0, 2])
    assert np.isnan([found.estimate[0], found.low[0], found.high[0]]).all()
    assert found.estimate[1] == 0.5


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((3, 2), {}, "successes <= n"),
        ((-1, 2), {}, "successes <= n"),
        ((0.5, 2), {}, "whole"),
        ((1, 2), {"level": 95}, "between 0 and 1"),
        ((1, 2), {"method": "wald"}, "choose one of wilson"),
    ],
)
def test_bad_input_is_refused(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        proportion_ci(*arguments, **options)


def test_one_trial_a_cluster_is_wilson() -> None:
    hits = [1, 0, 1, 1, 0, 1, 1]
    found, plain = clustered_proportion_ci(hits, [1] * 7), proportion_ci(5, 7)
    assert (found.estimate[0], found.low[0], found.high[0]) == pytest.approx(
        (plain.estimate, plain.low, plain.high)
    )


def test_one_cluster_speaks_of_itself() -> None:
    found, plain = clustered_proportion_ci([7], [10]), proportion_ci(7, 10)
    assert (found.low[0], found.high[0]) == pytest.approx((plain.low, plain.high))


def test_clusters_that_agree_count_once() -> None:
    # 24 clusters, all alike inside: as many trials as clusters, and t instead of z.
    found = clustered_proportion_ci([5] * 12 + [0] * 12, [5] * 24)
    n = 24 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 23)) ** 2
    low, high = proportion_confint(n / 2, n, method="wilson")
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), rel=1e-9)


def test_groups_are_what_each_is_alone() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(1, 6, 40)
    hits, groups = rng.binomial(n, 0.6), rng.integers(0, 4, 40)
    together = clustered_proportion_ci(hits, n, groups, count=5)
    assert np.isnan(together.low[4])
    for group in range(4):
        inside = groups == group
        alone = clustered_proportion_ci(hits[inside], n[inside])
        assert together.low[group] == pytest.approx(alone.low[0], rel=1e-12)
        assert together.high[group] == pytest.approx(alone.high[0], rel=1e-12)
        assert together.n[group] == n[inside].sum()


@pytest.mark.parametrize(("clusters", "correlation"), [(6, 0.5), (10, 0.5), (20, 0.5), (20, 0.0)])
def test_it_covers_where_wilson_of_all_trials_does_not(clusters: int, correlation: float) -> None:
    rng = np.random.default_rng(1)
    strength = 1 / correlation - 1 if correlation else 1e6
    rates = rng.beta(0.8 * strength, 0.2 * strength, (1000, clusters))
    hits = rng.binomial(5, rates)
    found = clustered_proportion_ci(
        hits.ravel(), np.full(hits.size, 5), np.repeat(np.arange(1000), clusters), count=1000
    )
    assert np.mean((found.low <= 0.8) & (found.high >= 0.8)) >= 0.93
    if correlation:
        plain = proportion_ci(hits.sum(axis=1), np.full(1000, 5 * clusters))
        assert np.mean((plain.low <= 0.8) & (plain.high >= 0.8)) < 0.8
