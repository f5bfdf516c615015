"""The control without the question: what the options alone tell a model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from assay.core.errors import AnalysisError
from assay.leaderboard.codes import RIGHT
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.families import cluster_count
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, interval, percent
from assay.stats.clusters import clustered_difference
from assay.stats.multiplicity import adjust_p
from assay.stats.proportion import proportion_ci
from assay.stats.result import Interval


@dataclass(frozen=True, slots=True)
class Control:
    """One model under one control.

    Attributes
    ----------
    model, configuration : str
    accuracy : Interval
        Without the question (Wilson); `n` counts items.
    chance : float
        Expected of uniform guessing on the same items.
    reference : float
        With the question, under the reference configuration, where that was observed too.
    p_value : float
        One-sided, that the model is right more often than guessing.
    """

    model: str
    configuration: str
    accuracy: Interval
    chance: float
    reference: float
    p_value: float


@dataclass(frozen=True)
class ChoicesOnly(Finding):
    """Every model under every control, and whether it beats guessing (Holm over all of them)."""

    name: ClassVar[str] = "choices_only"
    controls: tuple[Control, ...]
    p_adjusted: tuple[float, ...]
    alpha: float

    @property
    def reading(self) -> str:
        """Who is right most often without the question, and for how many that is no chance."""
        known = [one for one in self.controls if one.accuracy.n]
        if not known:
            return "What the options alone tell is unknown: no item was asked without its question."
        best = max(known, key=lambda one: float(one.accuracy.estimate) - one.chance)
        found = best.accuracy
        spread = interval(float(found.low), float(found.high), level=found.level)
        told = sum(p <= self.alpha for p in self.p_adjusted)
        return (
            f"Without the question {best.model} is right on {percent(float(found.estimate))} of "
            f"{count(int(found.n), 'item')} ({spread}), where guessing gives "
            f"{percent(best.chance)} and the question {percent(best.reference)}; above "
            f"guessing: {told} of {count(len(known), 'control')} (corrected over all of them)."
        )


def choices_only(
    correctness: Correctness, scope: Scope, *, alpha: float = 0.05, level: float = 0.95
) -> ChoicesOnly:
    """Compare every control of the scope with uniform guessing.

    Parameters
    ----------
    correctness : Correctness
        With `apart.controls`.
    scope : Scope
    alpha : float
        Family-wise error rate of "above guessing".
    level : float
        Of the intervals.

    Returns
    -------
    ChoicesOnly

    Raises
    ------
    AnalysisError
        If alpha is out of range.

    Notes
    -----
    Each item is asked in one order. The number right of independent guesses is a sum of binomials,
    one for each number of options, and its exact upper tail is the p-value; where items share
    clusters, the clustered difference from the items' chance.
    """
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
    controls = tuple(
        _control(correctness, scope, key, int(m), level)
        for key in correctness.apart.controls
        for m in correctness.ranked(scope)
    )
    adjusted = adjust_p([one.p_value for one in controls], method="holm").p_values
    return ChoicesOnly(scope.benchmark, controls, tuple(map(float, adjusted)), alpha)


def _control(correctness: Correctness, scope: Scope, key: str, m: int, level: float) -> Control:
    codes = correctness.apart.controls[key][m]
    items = scope.items & (codes <= RIGHT)
    right = codes[items] == RIGHT
    options = np.array([item.options for item in correctness.items])[items]
    clusters = correctness.cluster_of[items]
    asked = items & correctness.present[m, :, correctness.reference]
    with_question = correctness.right[m, asked, correctness.reference]
    with warnings.catch_warnings():
        # No items, few clusters or no spread: NaN says so.
        warnings.simplefilter("ignore", RuntimeWarning)
        accuracy = proportion_ci(int(right.sum()), right.size, level=level)
        if cluster_count(clusters) == right.size:
            p_value = above_guessing(int(right.sum()), options)
        else:
            excess = right - 1 / options
            p_value = float(clustered_difference(excess, clusters, alternative="greater").p_value)
    return Control(
        model=correctness.models[m],
        configuration=key,
        accuracy=accuracy,
        chance=correctness.chance(items),
        reference=float(with_question.mean()) if with_question.size else float("nan"),
        p_value=p_value,
    )


def above_guessing(right: int, options: NDArray[np.int64]) -> float:
    """Return the probability that guesses among `options` give at least `right` right ones.

    Parameters
    ----------
    right : int
    options : ndarray of int, shape (item,)

    Examples
    --------
    >>> above_guessing(2, np.array([2, 4]))
    0.125
    """
    if not options.size:
        return float("nan")
    total = np.ones(1)
    for size, items in zip(*np.unique(options, return_counts=True), strict=True):
        total = np.convolve(total, stats.binom.pmf(np.arange(items + 1), items, 1 / size))
    return float(min(1.0, total[right:].sum()))


def choices_only_table(found: ChoicesOnly) -> pd.DataFrame:
    """Return one row for each model and control.

    Columns: model, benchmark, configuration (text), n (whole; items), accuracy, low, high, chance,
    reference, p_value, p_adjusted (real).
    """
    rows = [
        {
            "model": one.model,
            "benchmark": found.benchmark,
            "configuration": one.configuration,
            "n": one.accuracy.n,
            "accuracy": one.accuracy.estimate,
            "low": one.accuracy.low,
            "high": one.accuracy.high,
            "chance": one.chance,
            "reference": one.reference,
            "p_value": one.p_value,
            "p_adjusted": adjusted,
        }
        for one, adjusted in zip(found.controls, found.p_adjusted, strict=True)
    ]
    return pd.DataFrame(rows)
