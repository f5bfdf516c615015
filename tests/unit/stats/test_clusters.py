from __future__ import annotations

import itertools

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats import PairedCounts, mcnemar_exact
from assay.stats.clusters import clustered_difference

SIDES = ("two-sided", "greater", "less")


@pytest.mark.parametrize("alternative", SIDES)
def test_items_of_their_own_are_the_t_test(alternative: str) -> None:
    values = np.random.default_rng(0).normal(0.2, 1, 40)
    found = clustered_difference(values, alternative=alternative)
    wanted = stats.ttest_1samp(values, 0, alternative=alternative)
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-10)
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-10)
    low, high = stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-10)


def test_equal_clusters_are_the_cluster_robust_regression() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(25), 6)
    values = rng.normal(0.1, 1, 150) + rng.normal(0, 0.5, 25)[labels]
    found = clustered_difference(values, labels)
    fit = sm.OLS(values, np.ones(150)).fit(
        cov_type="cluster", cov_kwds={"groups": labels}, use_t=True
    )
    assert found.statistic == pytest.approx(fit.tvalues[0], abs=1e-10)
    assert found.p_value == pytest.approx(fit.pvalues[0], abs=1e-10)
    assert (found.interval.low, found.interval.high) == pytest.approx(fit.conf_int()[0], abs=1e-10)


def test_unequal_clusters_are_the_jackknife() -> None:
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(22), rng.integers(1, 30, 22))
    values = rng.normal(0.1, 1, labels.size)
    found = clustered_difference(values, labels)
    without = np.array([values[labels != g].mean() for g in range(22)])
    error = np.sqrt(21 / 22 * np.sum((without - values.mean()) ** 2))
    assert found.statistic == pytest.approx(values.mean() / error, abs=1e-10)


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize(
    ("b", "c", "same"), [(6, 0, 4), (9, 2, 3), (3, 3, 8), (0, 7, 0), (4, 5, 2)]
)
def test_sign_flips_of_single_items_are_exact_mcnemar(
    alternative: str, b: int, c: int, same: int
) -> None:
    found = clustered_difference([1] * b + [-1] * c + [0] * same, alternative=alternative)
    wanted = mcnemar_exact(PairedCounts(both=same, b=b, c=c, neither=0), alternative=alternative)
    assert found.p_value == pytest.approx(wanted.p_value, abs=1e-12)
    assert found.attainable_p == pytest.approx(wanted.attainable_p, abs=1e-12)


def enumerated_p(sums: np.ndarray, alternative: str) -> float:
    totals = [sums @ np.array(s) for s in itertools.product((1, -1), repeat=sums.size)]
    observed = {"greater": 1, "less": -1}.get(alternative, 0)
    reach = (lambda t: abs(t)) if observed == 0 else (lambda t: observed * t)
    return float(np.mean([reach(t) >= reach(sums.sum()) - 1e-9 for t in totals]))


@pytest.mark.parametrize("alternative", SIDES)
def test_sign_flips_by_brute_force(alternative: str) -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat(list("abcdefgh"), rng.integers(1, 9, 8))
    for _ in range(5):
        values = rng.normal(0.4, 1, labels.size).round(1)
        sums = np.array([values[labels == name].sum() for name in "abcdefgh"])
        found = clustered_difference(values, labels, alternative=alternative)
        assert found.p_value == pytest.approx(enumerated_p(sums, alternative), abs=1e-12)
        assert found.agrees


def test_the_interval_holds_what_sign_flips_do_not_reject() -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(9), rng.integers(1, 9, 9))
    values = rng.normal(0.4, 1, labels.size)
    interval = clustered_difference(values, labels).interval

    def p_value(mean: float) -> float:
        return clustered_difference(values - mean, labels).p_value

    assert p_value(interval.low - 1e-6) <= 0.05 < p_value(interval.low + 1e-6)
    assert p_value(interval.high + 1e-6) <= 0.05 < p_value(interval.high - 1e-6)


@pytest.mark.parametrize("groups", [8, 30])
def test_copies_within_a_cluster_are_no_evidence(groups: int) -> None:
    values = np.random.default_rng(5).normal(0.3, 1, groups)
    once = clustered_difference(values)
    labels = np.tile([f"passage {g}" for g in range(groups)], 7)
    copied = clustered_difference(np.tile(values, 7), labels)
    assert copied.groups == groups
    assert copied.interval.n == 7 * groups
    assert copied.p_value == pytest.approx(once.p_value, abs=1e-12)
    assert copied.interval.low == pytest.approx(once.interval.low, abs=1e-12)


@pytest.mark.parametrize("alternative", SIDES)
def test_five_clusters_never_decide(alternative: str) -> None:
    labels = np.repeat(np.arange(5), 200)
    with pytest.warns(RuntimeWarning, match="too few to decide"):
        found = clustered_difference(np.ones(1000), labels, alternative=alternative)
    assert np.isnan([found.p_value, found.interval.low, found.interval.high]).all()
    assert found.interval.estimate == 1
    assert found.groups == 5
    assert not found.p_value <= 0.05


def test_no_items() -> None:
    with pytest.warns(RuntimeWarning, match="too few to decide"):
        found = clustered_difference([], [])
    assert np.isnan([found.p_value, found.interval.estimate]).all()


def test_a_level_that_six_clusters_cannot_bound() -> None:
    with pytest.warns(RuntimeWarning, match="too few for an interval"):
        found = clustered_difference([1, 2, 3, 4, 5, 6], level=0.99)
    assert np.isnan([found.interval.low, found.interval.high]).all()
    assert found.p_value == 2 / 64


def test_five_clusters_that_differ_are_no_more_than_five_clusters() -> None:
    found = clustered_difference([1] * 5 + [0] * 995)
    assert found.p_value == found.attainable_p == 2 / 32
    assert found.interval.low > 0
    assert not found.agrees


def test_differences_without_spread() -> None:
    with pytest.warns(RuntimeWarning, match="no spread"):
        found = clustered_difference(np.zeros(100))
    assert found.p_value == 1
    assert np.isnan(found.interval.low)
    with pytest.warns(RuntimeWarning, match="no spread"):
        found = clustered_difference(np.full(30, 0.1))
    assert found.p_value == 2**-29


def test_thirds_that_cancel_are_ties() -> None:
    third = 1 / 3
    values = [third, third, third, -1, 0.1, 0.2, -0.3, 0.7, -0.7, 0, 0, 0]
    labels = [0, 0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7]
    assert clustered_difference(values, labels).p_value == 1


@pytest.mark.parametrize(
    ("values", "labels", "options"),
    [
        ([1, np.nan], None, {}),
        ([[1, 0]], None, {}),
        ([1, 0], [1], {}),
        ([1, 0], ["a", None], {}),
        ([1, 0], [1.0, np.nan], {}),
        ([1, 0], None, {"level": 1}),
        ([1, 0], None, {"alternative": "larger"}),
    ],
)
def test_bad_input_is_refused(values: list, labels: list | None, options: dict) -> None:
    with pytest.raises(AnalysisError):
        clustered_difference(values, labels, **options)


def rejections(groups: int, *, runs: int, spread: float, shift: float = 0.0) -> int:
    """Count p <= .05 over clusters of unequal sizes whose items share half of their variance."""
    rng = np.random.default_rng([7, groups])
    sizes = np.ceil(rng.lognormal(1.5, spread, groups)).astype(int)
    labels = np.repeat(np.arange(groups), sizes)
    draws = rng.normal(size=(runs, groups))[:, labels] + rng.normal(size=(runs, labels.size))
    outcomes = np.where(np.abs(draws + shift) > 1, np.sign(draws + shift), 0)
    return sum(clustered_difference(row, labels).p_value <= 0.05 for row in outcomes)


@pytest.mark.parametrize(
    ("groups", "spread"), [(6, 1.0), (10, 1.0), (13, 0.5), (20, 0.5), (30, 1.0)]
)
def test_size_with_few_clusters(groups: int, spread: float) -> None:
    # 5 % of 1,000 is 50; 70 is exceeded with probability .002.
    assert rejections(groups, runs=1000, spread=spread) <= 70


def test_power_with_few_clusters() -> None:
    assert rejections(10, runs=300, spread=0.5, shift=1.2) >= 200
    assert rejections(30, runs=300, spread=0.5, shift=0.8) >= 240
