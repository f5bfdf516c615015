"""Confidence intervals for a proportion."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
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
