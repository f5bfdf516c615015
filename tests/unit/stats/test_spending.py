from __future__ import annotations

import math

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.stats import cycle_alpha, e_lond


def test_all_cycles_together_spend_alpha() -> None:
    spent = sum(cycle_alpha(0.05, cycle) for cycle in range(1, 20_001))
    assert 0.05 * (1 - 1e-4) < spent < 0.05


@pytest.mark.parametrize(("alpha", "cycle"), [(0, 1), (1, 1), (0.05, 0), (0.05, 1.5)])
def test_bad_cycles_are_refused(alpha: float, cycle: float) -> None:
    with pytest.raises(AnalysisError):
        cycle_alpha(alpha, cycle)


def test_levels_by_hand() -> None:
    found = e_lond(np.log([50, 40, 300]), alpha=0.05)
    first = 6 * 0.05 / math.pi**2
    assert found.levels == pytest.approx([first, 2 * first / 4, 2 * first / 9])
    assert found.rejected.tolist() == [True, False, True]
    assert found.next_level == pytest.approx(3 * first / 16)


def test_decisions_are_never_revised() -> None:
    log_e = np.random.default_rng(0).normal(5, 4, 30)
    whole = e_lond(log_e, alpha=0.1)
    assert 0 < whole.rejected.sum() < 30
    for seen in range(30):
        part = e_lond(log_e[:seen], alpha=0.1)
        assert np.array_equal(part.rejected, whole.rejected[:seen])
        assert part.next_level == whole.levels[seen]


def test_an_untested_hypothesis_keeps_its_place() -> None:
    found = e_lond([np.nan, 10.0], alpha=0.05)
    assert found.rejected.tolist() == [False, True]
    assert found.levels[1] == pytest.approx(cycle_alpha(0.05, 2))


def test_false_discoveries_under_dependence() -> None:
    # Ten nulls share one e-value, which is 1 / alpha_1 as often as an e-value can be.
    rng = np.random.default_rng(1)
    size = 1 / cycle_alpha(0.05, 1)
    shared = np.where(rng.random(2000) < 1 / size, math.log(size), -np.inf)
    runs = [e_lond(np.full(10, value), alpha=0.05).rejected.any() for value in shared]
    assert 0.02 < np.mean(runs) <= 0.05


def test_bad_sequences_are_refused() -> None:
    with pytest.raises(AnalysisError):
        e_lond([[1.0]], alpha=0.05)
    with pytest.raises(AnalysisError):
        e_lond([1.0], alpha=5)
