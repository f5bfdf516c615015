"""The ratio of two totals on the same clusters, such as the tokens that two models took."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from assay.core.errors import AnalysisError
from assay.stats.clusters import (
    FEWEST_CLUSTERS,
    MANY_CLUSTERS,
    drawn_union_sums,
    flip_bounds,
    union_sums,
)
from assay.stats.result import Interval

#: From this many clusters on the jackknife keeps its level though a few take most of the total.
_JACKKNIFED = 200
_REFERENCE = {
    "cluster swaps": "Fisher (1935), The Design of Experiments, section 21; Hartigan (1969), JASA "
    "64:1303-1317",
    "t on log-ratios, one cluster left out at a time": "Miller (1974), Biometrika 61:1-15",
}


def paired_ratio(
    baseline: ArrayLike, candidate: ArrayLike, *, level: float = 0.95, seed: int = 0
) -> Interval:
    """Return the candidate's total over the baseline's with a confidence interval.

    Parameters
    ----------
    baseline, candidate : array_like of float, shape (cluster,)
        What each took on a cluster: not negative, with a positive total.
    level : float
        Two-sided confidence level.
    seed : int
        Of the swaps, where they are drawn.

    Returns
    -------
    Interval
        Below 200 clusters, the ratios r that swapping does not reject: were the candidate's
        amounts r times as large by nature, each cluster's two would be exchangeable once they
        are divided by it. All swaps are enumerated below 20 clusters, else 20,000 are drawn.
        Bounds are order statistics of the ratios of unions of clusters, so that heavy tails
        widen them. From 200 on, Student's t on the jackknifed logarithm. NaN, with a
        RuntimeWarning, below six clusters, and for a candidate that took nothing. Clusters on
        which neither took anything are left out.

    Raises
    ------
    AnalysisError
        If an amount is negative or not finite, the baseline took nothing, or shapes differ.

    Notes
    -----
    On log-normal amounts (standard deviation 1 between clusters, .5 within) the jackknife's upper
    bound is below the true ratio 5 % of the time at 10 clusters and at 20, where 2.5 % is stated;
    that of swaps 2.6 and 3.1 %. Where the candidate's amounts vary much more than the baseline's
    (1 against .3) nothing is exchangeable, and at 50 clusters it is below 9 % of the time.

    Examples
    --------
    >>> found = paired_ratio([10, 20, 30, 40, 50, 60, 70], [11, 21, 29, 44, 55, 63, 70])
    >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (1.046, 1.0, 1.1)
    """
    before, after = _validate(baseline, candidate, level)
    estimate = float(after.sum() / before.sum())
    method, low, high = "cluster swaps", math.nan, math.nan
    if before.size < FEWEST_CLUSTERS or not after.sum():
        warnings.warn(
            f"a ratio over {before.size} clusters has no interval", RuntimeWarning, stacklevel=2
        )
    elif before.size < MANY_CLUSTERS:
        low, high = _by_unions(union_sums(after), union_sums(before), level)
    elif before.size < _JACKKNIFED:
        low, high = _by_unions(*drawn_union_sums(after, before, seed), level)
    else:
        method = "t on log-ratios, one cluster left out at a time"
        low, high = _jackknifed(before, after, level)
    return Interval(estimate, low, high, level, before.size, method, _REFERENCE[method])


def _by_unions(
    after: NDArray[np.float64], before: NDArray[np.float64], level: float
) -> tuple[float, float]:
    with np.errstate(divide="ignore"):
        return flip_bounds(after, before, level)


def _jackknifed(
    before: NDArray[np.float64], after: NDArray[np.float64], level: float
) -> tuple[float, float]:
    n = before.size
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log((after.sum() - after) / (before.sum() - before))
    error = math.sqrt((n - 1) / n * float(((logs - logs.mean()) ** 2).sum()))
    reach = float(special.stdtrit(n - 1, (1 + level) / 2)) * error
    centre = math.log(after.sum() / before.sum())
    return math.exp(centre - reach), math.exp(min(centre + reach, 700.0))


def _validate(
    baseline: ArrayLike, candidate: ArrayLike, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    before, after = np.asarray(baseline, float), np.asarray(candidate, float)
    if before.ndim != 1 or before.shape != after.shape:
        raise AnalysisError("a paired ratio needs two amounts for each cluster.")
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        raise AnalysisError("amounts must be finite.", fix="drop what was not measured first.")
    if np.any(before < 0) or np.any(after < 0) or not before.sum():
        raise AnalysisError("amounts are not negative, and the baseline's total is positive.")
    if not 0 < level < 1:
        raise AnalysisError(f"a confidence level lies between 0 and 1, not {level}.")
    telling = (before > 0) | (after > 0)
    return before[telling], after[telling]
