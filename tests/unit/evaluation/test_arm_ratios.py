"""Ratios of what two arms took, against plain resampling."""

from __future__ import annotations

import numpy as np
import pytest

from assay.evaluation.ratios import ratio_of_quantiles


@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize(("tasks", "attempts"), [(20, 1), (40, 7), (300, 1), (200, 40)])
@pytest.mark.parametrize("spread", [0.0, 2.0])
def test_the_interval_is_that_of_repeating_whole_tasks(
    share: float, tasks: int, attempts: int, spread: float
) -> None:
    rng = np.random.default_rng([tasks, attempts])
    task = np.repeat(np.arange(tasks), attempts)
    slow = spread * rng.normal(0, 1, tasks)[task]
    before, after = (np.round(np.exp(9 + slow + rng.normal(0, 1, task.size)), -1) for _ in "ab")
    found = ratio_of_quantiles(task, before, after, share, 0.95)
    draws = np.random.default_rng([0, task.size])
    ratios = []
    for _ in range(1_000):
        times = np.bincount(draws.integers(0, tasks, tasks), minlength=tasks)[task]
        low, high = (
            np.quantile(np.repeat(values, times), share, method="inverted_cdf")
            for values in (before, after)
        )
        ratios.append(np.log(high / low))
    expected = np.expm1(np.quantile(ratios, [0.025, 0.975]))
    assert found.interval is not None
    assert [found.interval.low, found.interval.high] == pytest.approx(expected, rel=1e-12)
