"""How much better or worse the candidate is on matched attempts, tasks as clusters."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.evaluation.aggregates import Members
from assay.evaluation.results import Bounds
from assay.evaluation.table import Bits, Ints
from assay.evaluation.verdicts import Effect, TippingPoint
from assay.stats import PairedCounts, clustered_difference, mcnemar_exact, paired_difference
from assay.stats.tango import tango_z

_NOTHING = "no matched attempt with a verdict"


@dataclass(frozen=True, slots=True)
class Matched:
    """Verdicts of matched attempts.

    Attributes
    ----------
    task, baseline, candidate : ndarray of int, shape (pair,)
        The task's number, and each arm's verdict: 1, 0, or -1 for none.
    """

    task: Ints
    baseline: Ints
    candidate: Ints

    def where(self, keep: Bits) -> Matched:
        """Keep some pairs."""
        return Matched(self.task[keep], self.baseline[keep], self.candidate[keep])

    @property
    def judged(self) -> Bits:
        """The pairs with two verdicts."""
        return (self.baseline >= 0) & (self.candidate >= 0)

    def worst(self) -> Matched:
        """Count what is missing against the candidate: its own failed, the baseline's passed."""
        baseline = np.where(self.baseline < 0, 1, self.baseline)
        return Matched(self.task, baseline, np.maximum(self.candidate, 0))


def effect(matched: Matched, level: float) -> Effect:
    """Return the uplift over the pairs with two verdicts.

    One attempt a task: exact McNemar and Tango's score interval. Several: the test on sums of
    each task (`assay.stats.clustered_difference`), which decides nothing below six tasks.

    Parameters
    ----------
    level : float
        Two-sided level of the interval.
    """
    everything = np.arange(matched.task.size)
    return effects(matched, Members(everything, np.zeros_like(everything), 1), level)[0]


def effects(matched: Matched, members: Members, level: float) -> list[Effect]:
    """Return the uplift of each group of pairs, as `effect` does of one.

    Parameters
    ----------
    members : Members
        Its rows are pairs.
    """
    kept = members.only(matched.judged)
    if not kept.rows.size:
        nothing = dict.fromkeys(("tasks", "attempts", "improved", "worsened"), 0)
        return [_nothing(nothing) for _ in range(kept.count)]
    task, groups = matched.task[kept.rows], kept.groups
    change = matched.candidate[kept.rows] - matched.baseline[kept.rows]
    n = np.bincount(groups, minlength=kept.count)
    width = int(task.max(initial=0)) + 1
    tasks = np.bincount(np.unique(groups * width + task) // width, minlength=kept.count)
    improved = np.bincount(groups[change > 0], minlength=kept.count)
    worsened = np.bincount(groups[change < 0], minlength=kept.count)
    both = np.bincount(groups[matched.baseline[kept.rows] == 1], minlength=kept.count) - worsened
    single = _Single.of(both, improved, worsened, n, level)
    found = []
    for group in range(kept.count):
        counts = {
            "tasks": int(tasks[group]),
            "attempts": int(n[group]),
            "improved": int(improved[group]),
            "worsened": int(worsened[group]),
        }
        if not n[group]:
            found.append(_nothing(counts))
        elif tasks[group] == n[group]:
            found.append(single.effect(group, counts))
        else:
            inside = groups == group
            found.append(_clustered(change[inside], task[inside], level, counts))
    return found


def loss_p(matched: Matched, margin: float) -> float | None:
    """Return the p-value of a loss of `margin`; small where the loss is shown to be smaller.

    The tests that the intervals of `effect` invert: Tango's score test, or that of the sums of
    each task. None where there is nothing to test, or too few tasks.
    """
    kept = matched.where(matched.judged)
    change = kept.candidate - kept.baseline
    if not change.size:
        return None
    if np.unique(kept.task).size == change.size:
        counts = (np.array([n]) for n in ((change > 0).sum(), (change < 0).sum(), change.size))
        return float(special.ndtr(-tango_z(*counts, delta=-margin))[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = clustered_difference(change + margin, kept.task, alternative="greater")
    return _known(found.p_value)


def _better_p(matched: Matched) -> float | None:
    """Return `effect`'s p-value that the candidate is better, every pair having its verdicts."""
    change = np.asarray(matched.candidate, np.int64) - matched.baseline
    if not change.size:
        return None
    if np.unique(matched.task).size == change.size:
        table = PairedCounts.of(matched.baseline, matched.candidate)
        return float(mcnemar_exact(table, alternative="greater").p_value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = clustered_difference(change.astype(float), matched.task, alternative="greater")
    return _known(found.p_value)


def _nothing(counts: dict[str, int]) -> Effect:
    return Effect(
        estimate=None, interval=None, better_p=None, worse_p=None, method=_NOTHING, **counts
    )


@dataclass(frozen=True)
class _Single:
    """One attempt a task: every group's table at once."""

    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    better: NDArray[np.float64]
    worse: NDArray[np.float64]

    @classmethod
    def of(cls, both: Ints, improved: Ints, worsened: Ints, n: Ints, level: float) -> _Single:
        cells = (both, improved, worsened, n - both - improved - worsened)
        with warnings.catch_warnings():
            # An empty group is undefined, and says so by having no attempt.
            warnings.simplefilter("ignore", RuntimeWarning)
            table = PairedCounts(*(np.asarray(cell, np.int64) for cell in cells))
            found = paired_difference(table, level=level)
            better = mcnemar_exact(table, alternative="greater").p_value
            worse = mcnemar_exact(table, alternative="less").p_value
        values = (found.estimate, found.low, found.high, better, worse)
        return cls(*(np.asarray(value, float) for value in values))

    def effect(self, group: int, counts: dict[str, int]) -> Effect:
        return Effect(
            estimate=float(self.estimate[group]),
            interval=Bounds(
                low=float(self.low[group]), high=float(self.high[group]), method="Tango"
            ),
            better_p=float(self.better[group]),
            worse_p=float(self.worse[group]),
            method="exact McNemar, one attempt a task",
            **counts,
        )


def _clustered(change: Ints, task: Ints, level: float, counts: dict[str, int]) -> Effect:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        better, worse = (
            clustered_difference(change.astype(float), task, level=level, alternative=side)
            for side in ("greater", "less")
        )
    interval = better.interval
    bounds = Bounds(low=_known(interval.low), high=_known(interval.high), method=interval.method)
    return Effect(
        estimate=float(np.mean(change)),
        interval=None if bounds.low is None else bounds,
        better_p=_known(better.p_value),
        worse_p=_known(worse.p_value),
        method=better.method,
        **counts,
    )


def _known(value: float | NDArray[np.float64]) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def tipping_point(matched: Matched, alpha: float) -> TippingPoint:
    """Return how many missing verdicts must go against the candidate until it is not better.

    Parameters
    ----------
    matched : Matched
        Every pair at the target, those of one arm alone among them.
    alpha : float
        One-sided level of superiority.
    """
    places = np.flatnonzero(~matched.judged)

    def better(against: int) -> bool:
        unkind = np.zeros(matched.task.size, bool)
        unkind[places[:against]] = True
        baseline = np.where(matched.baseline < 0, unkind, matched.baseline)
        candidate = np.where(matched.candidate < 0, ~unkind, matched.candidate)
        p_value = _better_p(Matched(matched.task, baseline, candidate))
        return p_value is not None and p_value <= alpha

    if not better(0) or better(places.size):
        return TippingPoint(missing=int(places.size), against=None)
    low, high = 0, int(places.size)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if better(middle) else (low, middle)
    return TippingPoint(missing=int(places.size), against=high)
