"""Ratios of what two arms took: totals of tokens and cost, quantiles of latency."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from assay.evaluation.results import Bounds
from assay.evaluation.table import Floats, Ints
from assay.stats import paired_ratio
from assay.stats.clusters import FEWEST_CLUSTERS

#: Resamples of tasks for the interval of a ratio of quantiles.
_DRAWS = 1_000
#: Numbers that are worked on at once.
_AT_ONCE = 1 << 21
_QUANTILES = f"percentiles of {_DRAWS:,} resamples of tasks"
#: Tasks that a quantile's interval needs: below, resamples hardly ever hold the slowest ones.
_FEWEST = {0.5: FEWEST_CLUSTERS, 0.95: 20}


@dataclass(frozen=True, slots=True)
class Ratio:
    """Candidate over baseline, less 1.

    Attributes
    ----------
    change : float or None
        None where nothing was measured, or the baseline took nothing.
    interval : Bounds or None
        None where there are too few tasks.
    tasks : int
    from_nothing : bool
        Whether the baseline took nothing and the candidate something.
    """

    change: float | None
    interval: Bounds | None
    tasks: int
    from_nothing: bool = False


def ratio_of_totals(task: Ints, baseline: Floats, candidate: Floats, level: float) -> Ratio:
    """Compare totals over the attempts that both arms measured.

    Tasks are the clusters of `assay.stats.paired_ratio`: heavy tails of single ones widen it.

    Parameters
    ----------
    task : ndarray of int, shape (pair,)
    baseline, candidate : ndarray of float, shape (pair,)
        NaN is unknown.
    level : float
        Two-sided.
    """
    number, first, second = _measured(task, baseline, candidate)
    tasks = int(number.max(initial=-1)) + 1
    before, after = np.bincount(number, first), np.bincount(number, second)
    if not tasks or not before.sum() or not after.sum():
        return _of_nothing(float(before.sum()), float(after.sum()), tasks)
    with warnings.catch_warnings():
        # Too few tasks have no interval, and the guardrail says so.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = paired_ratio(before, after, level=level)
    change, low, high = (float(x) - 1 for x in (found.estimate, found.low, found.high))
    if not math.isfinite(low) or not math.isfinite(high):
        return Ratio(change, None, tasks)
    return Ratio(change, Bounds(low=low, high=high, method=found.method), tasks)


def ratio_of_quantiles(
    task: Ints, baseline: Floats, candidate: Floats, share: float, level: float, seed: int = 0
) -> Ratio:
    """Compare a quantile over the attempts that both arms measured; `share` is .5 or .95."""
    number, first, second = _measured(task, baseline, candidate)
    tasks = int(number.max(initial=-1)) + 1
    if not tasks:
        return Ratio(None, None, 0)
    before, after = (np.quantile(values, share) for values in (first, second))
    if not before or not after:
        return _of_nothing(float(before), float(after), tasks)
    change = float(after / before) - 1
    if tasks < _FEWEST[share]:
        return Ratio(change, None, tasks)
    logs = _resampled(number, first, second, share, seed)
    tail = (1 - level) / 2
    low, high = np.quantile(logs[np.isfinite(logs)], [tail, 1 - tail])
    bounds = Bounds(low=math.expm1(low), high=math.expm1(high), method=_QUANTILES)
    return Ratio(change, bounds, tasks)


def _of_nothing(before: float, after: float, tasks: int) -> Ratio:
    if tasks and not before and not after:
        same = Bounds(low=0.0, high=0.0, method="neither arm took anything")
        return Ratio(0.0, same, tasks)
    return Ratio(None, None, tasks, from_nothing=bool(tasks and not before))


def _measured(task: Ints, baseline: Floats, candidate: Floats) -> tuple[Ints, Floats, Floats]:
    known = ~(np.isnan(baseline) | np.isnan(candidate))
    _, number = np.unique(task[known], return_inverse=True)
    return number.astype(np.int64), baseline[known], candidate[known]


def _resampled(number: Ints, first: Floats, second: Floats, share: float, seed: int) -> Floats:
    """Return the log-ratio of the quantile over resampled tasks, shape (draw,)."""
    rng = np.random.default_rng([seed, number.size])
    tasks = int(number.max()) + 1
    arms = [_Quantile.of(number, values, share, tasks) for values in (first, second)]
    widest = max(tasks, *(arm.high - arm.low for arm in arms))
    size = max(1, _AT_ONCE // widest)
    logs = []
    for start in range(0, _DRAWS, size):
        draws = min(size, _DRAWS - start)
        picks = rng.integers(0, tasks, (draws, tasks)) + tasks * np.arange(draws)[:, None]
        times = np.bincount(picks.ravel(), minlength=draws * tasks).reshape(draws, tasks)
        before, after = (arm.drawn(times) for arm in arms)
        known = (before > 0) & (after > 0)
        ratio = np.divide(after, before, out=np.full(draws, np.nan), where=known)
        logs.append(np.log(ratio))
    return np.concatenate(logs)


@dataclass(frozen=True, slots=True)
class _Quantile:
    """A quantile of attempts whose tasks are drawn several times each.

    It lies near the one of the attempts as they are: only attempts around it are looked at, and
    all of them in the rare draw in which it does not.

    Attributes
    ----------
    ordered, task : ndarray, shape (attempt,)
        Values in their order, and the task of each.
    low, high : int
        The attempts around the quantile.
    below, sizes : ndarray of int, shape (task,)
        Attempts of each task before `low`, and in all.
    """

    share: float
    ordered: Floats
    task: Ints
    low: int
    high: int
    below: Ints
    sizes: Ints

    @classmethod
    def of(cls, number: Ints, values: Floats, share: float, tasks: int) -> _Quantile:
        order = np.argsort(values, kind="stable")
        task = number[order]
        # Five standard errors of a share of as many independent values as there are tasks.
        width = math.ceil(5 * math.sqrt(share * (1 - share) / tasks) * values.size)
        middle = int(share * values.size)
        low, high = max(0, middle - width), min(values.size, middle + width + 1)
        return cls(
            share=share,
            ordered=values[order],
            task=task,
            low=low,
            high=high,
            below=np.bincount(task[:low], minlength=tasks),
            sizes=np.bincount(task, minlength=tasks),
        )

    def drawn(self, times: Ints) -> Floats:
        """Return the quantile where task k is there `times[d, k]` times, shape (draw,)."""
        needed, before = self.share * (times @ self.sizes), times @ self.below
        reached = before[:, None] + np.cumsum(times[:, self.task[self.low : self.high]], axis=1)
        place = (reached < needed[:, None]).sum(axis=1)
        last = self.high - self.low - 1
        found: Floats = self.ordered[self.low + np.minimum(place, last)]
        for draw in np.flatnonzero((before >= needed) | (place > last)):
            whole = np.cumsum(times[draw, self.task])
            found[draw] = self.ordered[np.searchsorted(whole, needed[draw])]
        return found
