"""How much better or worse the candidate is on matched attempts, tasks as clusters."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.results import Bounds
from assay.evaluation.table import Bits, Ints
from assay.evaluation.verdicts import Effect, TippingPoint
from assay.stats import PairedCounts, clustered_difference, mcnemar_exact, paired_difference

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
    kept = matched.where(matched.judged)
    before, after = kept.baseline, kept.candidate
    improved, worsened = int((after > before).sum()), int((after < before).sum())
    tasks = int(np.unique(kept.task).size)
    counts = {
        "tasks": tasks,
        "attempts": int(kept.task.size),
        "improved": improved,
        "worsened": worsened,
    }
    if not kept.task.size:
        return Effect(
            estimate=None, interval=None, better_p=None, worse_p=None, method=_NOTHING, **counts
        )
    if tasks == kept.task.size:
        return _single(before, after, level, counts)
    return _clustered(kept, level, counts)


def _single(before: Ints, after: Ints, level: float, counts: dict[str, int]) -> Effect:
    table = PairedCounts.of(before, after)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = paired_difference(table, level=level)
    better, worse = (
        float(np.asarray(mcnemar_exact(table, alternative=side).p_value))
        for side in ("greater", "less")
    )
    return Effect(
        estimate=float(np.asarray(found.estimate)),
        interval=Bounds(
            low=float(np.asarray(found.low)), high=float(np.asarray(found.high)), method="Tango"
        ),
        better_p=better,
        worse_p=worse,
        method="exact McNemar, one attempt a task",
        **counts,
    )


def _clustered(kept: Matched, level: float, counts: dict[str, int]) -> Effect:
    difference = (kept.candidate - kept.baseline).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        better, worse = (
            clustered_difference(difference, kept.task, level=level, alternative=side)
            for side in ("greater", "less")
        )
    interval = better.interval
    bounds = Bounds(low=_known(interval.low), high=_known(interval.high), method=interval.method)
    return Effect(
        estimate=float(difference.mean()),
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
        p_value = effect(Matched(matched.task, baseline, candidate), 0.95).better_p
        return p_value is not None and p_value <= alpha

    if not better(0) or better(places.size):
        return TippingPoint(missing=int(places.size), against=None)
    low, high = 0, int(places.size)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if better(middle) else (low, middle)
    return TippingPoint(missing=int(places.size), against=high)
