from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from assay.core.errors import AnalysisError
from assay.stats import clustered_evalue, paired_evalue

SIDES = ("two-sided", "greater", "less")


@pytest.mark.parametrize(
    ("b", "c", "alternative", "wanted"),
    [
        (8, 0, "two-sided", 28.44),
        (8, 8, "two-sided", 0.2995),
        (8, 0, "greater", 56.78),
        (0, 8, "less", 56.78),
        (0, 0, "two-sided", 1.0),
        (0, 0, "greater", 1.0),
    ],
)
def test_stated_values(b: int, c: int, alternative: str, wanted: float) -> None:
    assert paired_evalue(b, c, alternative=alternative).e == pytest.approx(wanted, rel=2e-4)


@pytest.mark.parametrize(("b", "c"), [(5, 2), (2, 5), (40, 31), (0, 12), (70, 100)])
def test_mixtures_by_integration(b: int, c: int) -> None:
    def ratio(p: float) -> float:
        return 2 ** (b + c) * p**b * (1 - p) ** c

    whole, low, high = (
        integrate.quad(ratio, *ends, epsabs=0, epsrel=1e-11)[0]
        for ends in ((0, 1), (0, 0.5), (0.5, 1))
    )
    assert paired_evalue(b, c).e == pytest.approx(whole, rel=1e-8)
    assert paired_evalue(b, c, alternative="greater").e == pytest.approx(2 * high, rel=1e-8)
    assert paired_evalue(b, c, alternative="less").e == pytest.approx(2 * low, rel=1e-8)


@pytest.mark.parametrize("alternative", SIDES)
def test_a_million_items_stay_finite(alternative: str) -> None:
    million = 10**6
    counts = np.array([0, 1, 400_000, 500_000, million])
    found = paired_evalue(counts, million - counts, alternative=alternative)
    assert np.isfinite(found.log_e).all()
    assert found.log_e.max() == pytest.approx(million * math.log(2), rel=1e-4)
    assert np.isinf(found.e).any()
    assert found.p_value.min() == 0
    assert found.p_value.max() <= 1


def test_far_on_the_wrong_side_by_exact_fractions() -> None:
    # The mass above one half is a binomial tail of b + c + 1 tosses; powers of two cancel.
    b, c = 3, 1500
    n = b + c + 1
    tail = sum(math.comb(n, k) for k in range(b + 1))
    wanted = math.log(tail) - math.log(n * math.comb(b + c, b))
    assert paired_evalue(b, c, alternative="greater").log_e == pytest.approx(wanted, abs=1e-10)


def test_series_meets_the_incomplete_beta_function() -> None:
    # The mass above one half falls below what a float holds between these counts.
    counts = np.arange(900, 1100)
    log_e = paired_evalue(10, counts, alternative="greater").log_e
    assert np.ptp(np.diff(log_e)) < 1e-3
    assert np.abs(np.diff(log_e, 2)).max() < 1e-5


def test_the_expectation_under_the_null_is_one() -> None:
    total = 40
    b = np.arange(total + 1)
    weight = stats.binom.pmf(b, total, 0.5)
    for alternative in SIDES:
        e = paired_evalue(b, total - b, alternative=alternative).e
        assert weight @ e == pytest.approx(1, abs=1e-10)


def test_one_sided_evidence_is_valid_where_b_is_worse_and_two_sided_is_not() -> None:
    total = 40
    b = np.arange(total + 1)
    worse = stats.binom.pmf(b, total, 0.3)
    assert worse @ paired_evalue(b, total - b, alternative="greater").e < 0.2
    assert worse @ paired_evalue(b, total - b).e > 10


def test_looking_after_every_item_claims_at_most_alpha() -> None:
    rng = np.random.default_rng(0)
    looks = np.arange(1, 301)
    b = rng.integers(0, 2, (1500, 300)).cumsum(axis=1)
    log_e = paired_evalue(b, looks - b).log_e
    crossed = (log_e.max(axis=1) >= math.log(20)).mean()
    # At most 5 % ever cross; exact p-values looked at as often cross in more than a third.
    assert 0.01 < crossed <= 0.06
    p_values = 2 * special.bdtr(np.minimum(b, looks - b), looks, 0.5)
    assert (p_values.min(axis=1) <= 0.05).mean() > 0.3


def test_attainable_evidence() -> None:
    found = paired_evalue(2, 6)
    assert found.n == 8
    assert found.attainable_log_e == pytest.approx(paired_evalue(8, 0).log_e)
    assert paired_evalue(2, 6, alternative="less").attainable_log_e == pytest.approx(
        paired_evalue(8, 0, alternative="greater").log_e
    )


@pytest.mark.parametrize(("b", "c"), [(-1, 2), (1.5, 2), (1, np.nan)])
def test_bad_counts_are_refused(b: float, c: float) -> None:
    with pytest.raises(AnalysisError):
        paired_evalue(b, c)


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize(("b", "c", "same"), [(8, 0, 5), (30, 12, 100), (3, 20, 0), (0, 0, 4)])
def test_single_items_bet_like_the_paired_evalue(
    alternative: str, b: int, c: int, same: int
) -> None:
    differences = [1] * b + [-1] * c + [0] * same
    found = clustered_evalue(differences, bound=1, alternative=alternative)
    wanted = paired_evalue(b, c, alternative=alternative)
    assert found.log_e == pytest.approx(wanted.log_e, abs=1e-9)
    assert found.attainable_log_e == pytest.approx(wanted.attainable_log_e, abs=1e-9)


def test_clusters_by_hand() -> None:
    found = clustered_evalue([1, 1, -1, 0.5], ["a", "a", "b", "b"], bound=4, grid=[-0.5, 0.5])
    assert found.e == pytest.approx((0.75 * (1 + 0.5 * 0.125) + 1.25 * (1 - 0.5 * 0.125)) / 2)
    assert found.n == 2


def test_copies_in_a_cluster_add_no_evidence() -> None:
    once = clustered_evalue([1, 1, -1, 1], bound=1)
    copied = clustered_evalue(np.repeat([1, 1, -1, 1], 9), np.repeat(range(4), 9), bound=9)
    assert copied.log_e == pytest.approx(once.log_e, abs=1e-12)


@pytest.mark.parametrize("alternative", SIDES)
def test_the_expectation_over_signs_of_clusters_is_one(alternative: str) -> None:
    labels = [0, 0, 0, 1, 1, 2, 3, 3, 4, 5]
    values = np.array([1, 0.5, 1, -1, 0, 1, 1, 1, -0.3, 1])
    e = [
        clustered_evalue(
            values * np.array(signs)[labels], labels, bound=5, alternative=alternative
        ).e
        for signs in itertools.product((1, -1), repeat=6)
    ]
    assert np.mean(e) == pytest.approx(1, abs=1e-12)


def test_no_clusters_are_no_evidence() -> None:
    assert clustered_evalue([], bound=3).e == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "labels", "options"),
    [
        ([1, 1], [0, 0], {"bound": 1}),
        ([2], None, {"bound": 3}),
        ([np.nan], None, {"bound": 1}),
        ([1], None, {"bound": 0}),
        ([1], None, {"bound": 1, "grid": [1.0]}),
        ([1], None, {"bound": 1, "grid": []}),
        ([1], None, {"bound": 1, "grid": [-0.5], "alternative": "greater"}),
        ([1], None, {"bound": 1, "alternative": "both"}),
    ],
)
def test_bad_bets_are_refused(values: list, labels: list | None, options: dict) -> None:
    with pytest.raises(AnalysisError):
        clustered_evalue(values, labels, **options)
