"""Confidence intervals for a proportion."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from assay.core.errors import AnalysisError
from assay.stats.result import Interval, unwrap

ProportionMethod = Literal["wilson", "jeffreys", "clopper-pearson"]

_STATSMODELS_NAME = {"wilson": "wilson", "jeffreys": "jeffreys", "clopper-pearson": "beta"}
_REFERENCE = {
    "wilson": "Wilson (1927), JASA 22:209-212",
    "jeffreys": "Brown, Cai & DasGupta (2001), Statistical Science 16:101-133",
    "clopper-pearson": "Clopper & Pearson (1934), Biometrika 26:404-413",
}


def proportion_ci(
    successes: ArrayLike,
    n: ArrayLike,
    *,
    level: float = 0.95,
    method: ProportionMethod = "wilson",
) -> Interval:
    """Return the share `successes` / `n` with a confidence interval.

    Parameters
    ----------
    successes, n : array_like of int
        Broadcast against each other.
    level : float
        Two-sided confidence level.
    method : {"wilson", "jeffreys", "clopper-pearson"}
        Jeffreys intervals are closed at 0 and 1 where no (or every) trial succeeded.

    Returns
    -------
    Interval
        NaN, with a RuntimeWarning, where ``n`` is 0.

    Raises
    ------
    AnalysisError
        If counts are negative, not whole or ``successes > n``, or an option is unknown.

    Examples
    --------
    >>> result = proportion_ci(7, 10)
    >>> round(result.low, 3), round(result.high, 3)
    (0.397, 0.892)
    """
    hits, trials = _validate(successes, n, level, method)
    safe = np.where(trials > 0, trials, 1)
    low, high = proportion_confint(hits, safe, alpha=1 - level, method=_STATSMODELS_NAME[method])
    # Rounding leaves 1e-18 where the bound is exact, and Jeffreys excludes a share of 0 or 1.
    low = np.where(hits == 0, 0.0, low)
    high = np.where(hits == trials, 1.0, high)
    estimate, low, high = (np.where(trials > 0, x, np.nan) for x in (hits / safe, low, high))
    return Interval(
        estimate=unwrap(estimate),
        low=unwrap(low),
        high=unwrap(high),
        level=level,
        n=int(trials) if trials.ndim == 0 else trials,
        method=method,
        reference=_REFERENCE[method],
    )


def _validate(
    successes: ArrayLike, n: ArrayLike, level: float, method: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if method not in _STATSMODELS_NAME:
        known = ", ".join(_STATSMODELS_NAME)
        raise AnalysisError(f"unknown interval '{method}'.", fix=f"choose one of {known}.")
    if not 0 < level < 1:
        raise AnalysisError(f"a confidence level lies between 0 and 1, not {level}.")
    hits, trials = np.broadcast_arrays(np.asarray(successes), np.asarray(n))
    whole = np.array_equal(hits, np.floor(hits)) and np.array_equal(trials, np.floor(trials))
    if not whole or np.any(hits < 0) or np.any(hits > trials):
        raise AnalysisError("counts must be whole numbers with 0 <= successes <= n.")
    if np.any(trials == 0):
        warnings.warn("no trials: the share is undefined", RuntimeWarning, stacklevel=3)
    return hits.astype(np.int64), trials.astype(np.int64)


def clustered_proportion_ci(
    successes: ArrayLike,
    n: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    count: int = 1,
    level: float = 0.95,
) -> Interval:
    """Return the share of successes with a Wilson interval that knows of clusters, group by group.

    Parameters
    ----------
    successes, n : array_like of int, shape (cluster,)
        Successes and trials of each cluster, with at least one trial each.
    groups : array_like of int, shape (cluster,), optional
        The group of each cluster, 0 … `count` - 1; without it all are one group.
    count : int
        Number of groups.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval
        Arrays of shape (count,); NaN for a group without a cluster. Its `n` counts trials.

    Raises
    ------
    AnalysisError
        If counts are negative or not whole, or the level is out of range.

    Notes
    -----
    Wilson's interval at the effective number of trials: that at which independent trials would
    have the clustered variance, at least the number of clusters (which is what it is where all
    trials agree) and at most the trials, times (z / t)² with t of as many degrees of freedom as
    clusters less one. Where every cluster has one trial it is Wilson's own; so it is where a group
    is one cluster, and then speaks of that cluster alone.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24:193-201; Wilson (1927), JASA 22:209-212.

    Examples
    --------
    >>> alone = clustered_proportion_ci([1] * 14 + [0] * 6, [1] * 20)
    >>> grouped = clustered_proportion_ci([5] * 14 + [0] * 6, [5] * 20)
    >>> bool(alone.high == proportion_ci(14, 20).high), grouped.low.round(2).tolist()
    (True, [0.47])
    """
    hits, trials = _validate(successes, n, level, "wilson")
    which = np.zeros(hits.size, np.intp) if groups is None else np.asarray(groups, np.intp)
    total = np.asarray(np.bincount(which, trials, count), float)
    clusters = np.bincount(which, minlength=count)
    share = np.bincount(which, hits, count) / np.where(total > 0, total, 1)
    size = _effective_size(hits - share[which] * trials, which, share, total, clusters, level)
    low, high = proportion_confint(
        share * size, np.where(size > 0, size, 1), alpha=1 - level, method="wilson"
    )
    low, high = np.where(share == 0, 0.0, low), np.where(share == 1, 1.0, high)
    share, low, high = (np.where(total > 0, x, np.nan) for x in (share, low, high))
    return Interval(
        estimate=share,
        low=low,
        high=high,
        level=level,
        n=total.astype(np.int64),
        method="wilson, effective size",
        reference="Korn & Graubard (1998), Survey Methodology 24:193-201",
    )


def _effective_size(
    residuals: NDArray[np.float64],
    which: NDArray[np.intp],
    share: NDArray[np.float64],
    total: NDArray[np.float64],
    clusters: NDArray[np.int64],
    level: float,
) -> NDArray[np.float64]:
    """Return the trials that would tell as much, were they independent; see above."""
    free = np.maximum(clusters - 1, 1)
    square = np.bincount(which, residuals**2, total.size) * clusters / free
    with np.errstate(divide="ignore", invalid="ignore"):
        size = share * (1 - share) * total**2 / square
    size = np.where(np.isfinite(size) & (share > 0) & (share < 1), size, clusters)
    size = np.clip(size, clusters, total)
    z, t = stats.norm.ppf((1 + level) / 2), stats.t.ppf((1 + level) / 2, free)
    plain = (clusters == total) | (clusters == 1)
    return np.asarray(np.where(plain, total, size * (z / t) ** 2), float)
