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
    labels = np.repeat(np.arange(50), rng.integers(1, 9, 50))
    values = rng.normal(0.1, 1, labels.size)
    found = clustered_difference(values, labels)
    without = np.array([values[labels != g].mean() for g in range(50)])
    error = np.sqrt(49 / 50 * np.sum((without - values.mean()) ** 2))
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
    with pytest.warns(RuntimeWarning, match="no interval at level"):
        found = clustered_difference([1, 2, 3, 4, 5, 6], level=0.99)
    assert np.isnan([found.interval.low, found.interval.high]).all()
    assert found.p_value == 2 / 64


def test_five_clusters_that_differ_are_no_more_than_five_clusters() -> None:
    found = clustered_difference([1] * 5 + [0] * 995)
    assert found.p_value == found.attainable_p == 2 / 32
    assert found.interval.low > 0
    assert not found.agrees


def test_differences_without_spread() -> None:
    with pytest.warns(RuntimeWarning, match="no spread") as warned:
        found = clustered_difference(np.zeros(100))
    assert warned[0].filename == __file__
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


def test_sizes_too_unequal_for_t_are_drawn_sign_flips() -> None:
    rng = np.random.default_rng(6)
    labels = np.repeat(np.arange(25), [60, 20, *[1] * 23])
    values = rng.normal(0.3, 1, labels.size)
    found = clustered_difference(values, labels)
    assert found.method == "random cluster sign flips"
    assert found.agrees
    assert found.p_value == clustered_difference(values, labels, seed=0).p_value
    sums = np.bincount(labels, values)
    flips = np.random.default_rng(7).choice([-1.0, 1.0], (40_000, 25)) @ sums
    wanted = np.mean(np.abs(flips) >= abs(sums.sum()))
    for seed in range(4):
        drawn = clustered_difference(values, labels, seed=seed).p_value
        # Both are shares of draws; four standard errors.
        assert drawn == pytest.approx(wanted, abs=4 * np.sqrt(wanted / 14_000))


def test_drawn_sign_flips_are_never_zero() -> None:
    labels = np.repeat(np.arange(40), [200, *[1] * 39])
    found = clustered_difference(np.ones(239), labels, alternative="greater")
    assert found.p_value == found.attainable_p == 1 / 20_000


def test_clusters_of_mildly_unequal_sizes_keep_t() -> None:
    labels = np.repeat(np.arange(40), [1, 2, 3, 4] * 10)
    values = np.random.default_rng(8).normal(size=100)
    assert clustered_difference(values, labels).method == "t on cluster sums"


def rejections(sizes: list[int], *, runs: int, shift: float = 0.0) -> int:
    """Count p <= .05 over clusters whose items share half of their variance."""
    rng = np.random.default_rng([7, len(sizes)])
    labels = np.repeat(np.arange(len(sizes)), sizes)
    draws = rng.normal(size=(runs, len(sizes)))[:, labels] + rng.normal(size=(runs, labels.size))
    outcomes = np.where(np.abs(draws + shift) > 1, np.sign(draws + shift), 0)
    return sum(clustered_difference(row, labels).p_value <= 0.05 for row in outcomes)


@pytest.mark.parametrize(
    "sizes",
    [[1, 3, 5, 8, 13, 21], [1, 2, 3, 4, 40] * 2, [5] * 13, [5] * 20, [1, 2, 3, 4] * 10],
    ids=["6", "10 unequal", "13", "20", "40 unequal"],
)
def test_size_with_few_clusters(sizes: list[int]) -> None:
    # 5 % of 1,000 is 50; 70 is exceeded with probability .002.
    assert rejections(sizes, runs=1000) <= 70


def test_size_where_one_of_thirty_clusters_holds_half() -> None:
    assert rejections([145, *[5] * 29], runs=300) <= 26


@pytest.mark.filterwarnings("ignore:clusters have no spread")
@pytest.mark.parametrize("groups", [10, 30])
def test_short_of_an_expectation_near_one_is_conservative(groups: int) -> None:
    outcomes = np.random.default_rng(9).random((600, groups)) < 0.9
    labels = np.repeat(np.arange(groups), 3)
    short = [
        clustered_difference(np.repeat(row - 0.9, 3), labels, alternative="less").p_value
        for row in outcomes
    ]
    assert np.mean(np.array(short) <= 0.05) <= 0.05


def test_power_with_few_clusters() -> None:
    assert rejections([3, 4, 5, 6, 7] * 2, runs=300, shift=1.2) >= 200
    assert rejections([3, 4, 5, 6, 7] * 6, runs=300, shift=0.8) >= 240
