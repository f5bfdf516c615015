"""Whether stated probabilities come true."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from assay.core.errors import AnalysisError
from assay.stats.proportion import proportion_ci
from assay.stats.result import Interval, Test
from assay.stats.weights import FEWEST_UNITS, Units

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Stated probabilities against what happened.

    Attributes
    ----------
    ece : float
        Expected calibration error: mean distance between stated probability and share of
        successes, over bins weighted by their items.
    ece_if_calibrated : float
        What `ece` is on average for perfectly calibrated probabilities like these: it is above 0
        for want of items, so read `ece` beside it.
    brier : Interval
        Mean squared distance of probability and outcome; t interval.
    auroc : Interval
        Chance that a success was given a higher probability than a failure, ties counting half;
        interval on the logit scale.
    miscalibration : Test
        Spiegelhalter's z: whether the Brier score is what calibrated probabilities would give.
    count : ndarray of int, shape (bin,)
        Items of each bin.
    confidence : ndarray of float, shape (bin,)
        Their mean stated probability; NaN in an empty bin.
    accuracy : Interval
        Their share of successes, with Wilson's interval; NaN in an empty bin.
    """

    ece: float
    ece_if_calibrated: float
    brier: Interval
    auroc: Interval
    miscalibration: Test
    count: _Ints
    confidence: _Floats
    accuracy: Interval


def calibration(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    *,
    bins: int = 15,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> Calibration:
    """Compare stated probabilities of success with the outcomes.

    Parameters
    ----------
    probabilities : array_like of float, shape (item,)
        Stated probability of success, from 0 to 1.
    outcomes : array_like of bool or 0/1, shape (item,)
    bins : int
        Number of bins of equal width, closed on the right; the first holds 0 as well.
    clusters : array_like, shape (item,), optional
        Label of each item's cluster, for the intervals of `brier` and `auroc`.
    level : float

    Returns
    -------
    Calibration
        NaN, each with a RuntimeWarning: AUROC where all outcomes are equal; the intervals of
        fewer than six items or clusters, or of scores without variance (perfect separation).

    Raises
    ------
    AnalysisError
        If there is no item, shapes differ, or a value is out of range.

    Notes
    -----
    Standard errors are of influence functions summed over clusters; without clusters those of
    the AUROC are DeLong's but for degrees of freedom. `ece_if_calibrated` takes each bin's
    successes as binomial at its mean probability.

    References
    ----------
    Guo et al. (2017), ICML, arXiv:1706.04599 (ECE); Brier (1950), Monthly Weather Review 78:1-3;
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44:837-845; Obuchowski (1997), Biometrics
    53:567-578 (clusters); Spiegelhalter (1986), Statistics in Medicine 5:421-433.

    Examples
    --------
    >>> stated = np.repeat([0.9, 0.6, 0.2], 10)
    >>> found = calibration(stated, [1] * 9 + [0] + [1] * 5 + [0] * 5 + [1] * 2 + [0] * 8)
    >>> round(found.ece, 4), round(found.auroc.estimate, 3)
    (0.0333, 0.812)
    """
    stated, hits = _validate(probabilities, outcomes, bins, level)
    units = Units.of(stated.size, clusters=clusters)
    which = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], stated, side="left")
    count = np.bincount(which, minlength=bins)
    full = count > 0
    of_full = np.where(full, count, 1)
    confidence = np.bincount(which, stated, minlength=bins) / of_full
    right = np.asarray(np.bincount(which, hits, minlength=bins), float)
    return Calibration(
        ece=float(np.abs(right - count * confidence).sum() / stated.size),
        ece_if_calibrated=float(_mean_deviation(count, confidence).sum() / stated.size),
        brier=_brier(stated, hits, units, level),
        auroc=_auroc(stated, hits, units, level),
        miscalibration=_spiegelhalter(stated, hits),
        count=count,
        confidence=np.where(full, confidence, np.nan),
        accuracy=_accuracy(right, count, level),
    )


def _mean_deviation(n: _Ints, p: _Floats) -> _Floats:
    """Return E|X - np| of binomial X, by De Moivre's formula."""
    p = np.clip(p, 0, 1)
    above = np.minimum(np.floor(n * p) + 1, n)
    return np.asarray(2 * above * (1 - p) * stats.binom.pmf(above, n, p), float)


def _accuracy(right: _Floats, count: _Ints, level: float) -> Interval:
    with warnings.catch_warnings():
        # An empty bin is no surprise.
        warnings.simplefilter("ignore", RuntimeWarning)
        return proportion_ci(right, count, level=level)


def _brier(stated: _Floats, hits: _Floats, units: Units, level: float) -> Interval:
    loss = (stated - hits) ** 2
    mean = float(loss.mean())
    reach = _reach((loss - mean) / loss.size, units, level, "Brier score")
    return Interval(
        mean,
        mean - reach,
        mean + reach,
        level,
        loss.size,
        "Brier score, t interval",
        "Brier (1950)",
    )


def _auroc(stated: _Floats, hits: _Floats, units: Units, level: float) -> Interval:
    success = hits == 1
    wins, losses = int(success.sum()), int((~success).sum())
    estimate = low = high = math.nan
    if wins and losses:
        # Of each item, the share of the other class on its right side.
        place = stats.rankdata(stated)
        among = np.empty(stated.size)
        for group, others in ((success, losses), (~success, wins)):
            among[group] = (place[group] - stats.rankdata(stated[group])) / others
        among[~success] = 1 - among[~success]
        estimate = float(among[success].mean())
        influence = (among - estimate) / np.where(success, wins, losses)
        reach = _reach(influence, units, level, "AUROC")
        if 0 < estimate < 1:
            reach /= estimate * (1 - estimate)
            low, high = special.expit(special.logit(estimate) + np.array([-reach, reach])).tolist()
    else:
        warnings.warn("AUROC is undefined: all outcomes are equal", RuntimeWarning, stacklevel=3)
    method = "AUROC, logit interval"
    return Interval(estimate, low, high, level, stated.size, method, "DeLong et al. (1988)")


def _reach(influence: _Floats, units: Units, level: float, what: str) -> float:
    """Return half the width of a t interval; NaN where the units cannot tell."""
    groups = len(units)
    square = float((np.asarray(units.sums(influence), float) ** 2).sum())
    # What remains of equal values is rounding.
    if groups < FEWEST_UNITS or square <= 1e-24:
        message = f"the interval of the {what} is undefined: {groups} units, variance {square:.1g}"
        warnings.warn(message, RuntimeWarning, stacklevel=4)
        return math.nan
    quantile = float(stats.t.ppf((1 + level) / 2, groups - 1))
    return quantile * math.sqrt(square * groups / (groups - 1))


def _spiegelhalter(stated: _Floats, hits: _Floats) -> Test:
    tilt = 1 - 2 * stated
    variance = float((tilt**2 * stated * (1 - stated)).sum())
    z = float(((hits - stated) * tilt).sum()) / math.sqrt(variance) if variance > 0 else math.nan
    if math.isnan(z):
        warnings.warn(
            "miscalibration cannot be tested: all probabilities are 0, 1 or one half",
            RuntimeWarning,
            stacklevel=3,
        )
    return Test(
        statistic=z,
        p_value=float(2 * special.ndtr(-abs(z))),
        attainable_p=math.nan,
        n=stated.size,
        method="Spiegelhalter's z, two-sided",
        reference="Spiegelhalter (1986), Statistics in Medicine 5:421-433",
    )


def _validate(
    probabilities: ArrayLike, outcomes: ArrayLike, bins: int, level: float
) -> tuple[_Floats, _Floats]:
    stated, hits = np.asarray(probabilities, float), np.asarray(outcomes, float)
    if stated.ndim != 1 or stated.shape != hits.shape or not stated.size:
        raise AnalysisError("calibration needs one probability and one outcome for each item.")
    if not ((stated >= 0) & (stated <= 1)).all():
        raise AnalysisError(
            "probabilities lie between 0 and 1.",
            fix="divide percentages by 100; drop missing ones.",
        )
    if not np.isin(hits, (0, 1)).all():
        raise AnalysisError("outcomes must be 0 or 1.", fix="drop missing items first.")
    if bins < 1 or not 0 < level < 1:
        raise AnalysisError("calibration needs at least one bin, and a level between 0 and 1.")
    return stated, hits
