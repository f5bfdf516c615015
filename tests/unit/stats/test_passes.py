from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats.passes import pass_at_k, pass_hat_k


def test_equals_counting_every_choice_of_k_attempts() -> None:
    for n in range(1, 8):
        for c, k in itertools.product(range(n + 1), range(1, n + 1)):
            chosen = [sum(which) for which in itertools.combinations([1] * c + [0] * (n - c), k)]
            assert pass_at_k(n, c, k) == pytest.approx(np.mean(np.array(chosen) > 0), abs=1e-12)
            assert pass_hat_k(n, c, k) == pytest.approx(np.mean(np.array(chosen) == k), abs=1e-12)


def test_unbiased_at_every_chance() -> None:
    n, c = 6, np.arange(7)
    for chance, k in itertools.product((0.05, 0.5, 0.9), (1, 3, 6)):
        weight = stats.binom.pmf(c, n, chance)
        assert weight @ pass_at_k(n, c, k) == pytest.approx(1 - (1 - chance) ** k, abs=1e-12)
        assert weight @ pass_hat_k(n, c, k) == pytest.approx(chance**k, abs=1e-12)


def test_the_plug_in_estimate_is_biased_as_the_docstring_says() -> None:
    c = np.arange(6)
    plug_in = stats.binom.pmf(c, 5, 0.2) @ (1 - (1 - c / 5) ** 5)
    assert round(float(plug_in), 2) == 0.52
    assert round(1 - 0.8**5, 2) == 0.67


def test_large_counts_neither_overflow_nor_cancel() -> None:
    wanted = 1 - Fraction(comb(100_000 - 7, 500), comb(100_000, 500))
    assert pass_at_k(100_000, 7, 500) == pytest.approx(float(wanted), rel=1e-10)
    assert pass_hat_k(3000, 2000, 1000) == pytest.approx(
        float(Fraction(comb(2000, 1000), comb(3000, 1000))), rel=1e-10
    )


def test_one_attempt_is_the_share_of_successes() -> None:
    assert pass_at_k([4, 8], [1, 8], 1).tolist() == [0.25, 1.0]
    assert pass_hat_k([4, 8], [1, 8], 1).tolist() == [0.25, 1.0]


def test_too_few_attempts_are_undefined_and_said_so() -> None:
    for score in (pass_at_k, pass_hat_k):
        with pytest.warns(RuntimeWarning, match="fewer than k attempts"):
            found = score([3, 9], [3, 9], 5)
        assert np.isnan(found[0])
        assert found[1] == 1


@pytest.mark.parametrize(
    ("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1.5, 1), (3, 1, 0), (np.nan, 0, 1)]
)
def test_impossible_counts_are_refused(n: float, c: float, k: float) -> None:
    with pytest.raises(AnalysisError):
        pass_at_k(n, c, k)
