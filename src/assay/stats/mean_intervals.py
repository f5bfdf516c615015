"""Bootstrap intervals of many means at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from assay.stats.exact_sums import UnitSums
from assay.stats.resampling import (
    METHODS,
    BootstrapMethod,
    bootstrap_means,
    check_options,
    method_name,
    table,
)
from assay.stats.result import Interval
from assay.stats.weights import FEWEST_UNITS, Units, warn_degenerate

_Floats = NDArray[np.float64]


def bootstrap_mean_intervals(
    matrix: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    method: BootstrapMethod = "bca",
    draws: int = 10_000,
    seed: int,
    memory: int = 2**28,
) -> Interval:
    """Return a bootstrap interval of each column's mean, the items drawn with replacement.

    Each is what `bootstrap` gives for ``np.mean`` of the column, from the same samples.

    Parameters
    ----------
    matrix : array_like, shape (item, column)
        Booleans, whole numbers or floats. NaN is missing: the mean is over the rest.
    clusters : array_like, shape (item,), optional
        Label of each item's cluster; clusters are drawn, and left out by the jackknife, whole.
    level : float
        Two-sided confidence level of each interval.
    method : {"bca", "percentile"}
    draws : int
        Number of bootstrap samples.
    seed : int
        Same seed and number of units, same samples.
    memory : int
        Bytes to hold at a time, about, beside the matrix. No number depends on it.

    Returns
    -------
    Interval
        Arrays of shape (column,); `n` counts the items that are not missing. NaN, with a
        RuntimeWarning, for columns that do not vary, or that are wholly missing in some sample,
        and with fewer than six units.

    Raises
    ------
    AnalysisError
        If the shapes do not fit, a value is infinite, or an option is out of range.

    Examples
    --------
    >>> bits = np.repeat([[1, 0], [1, 1], [0, 1]], 40, axis=0)
    >>> found = bootstrap_mean_intervals(bits, seed=1)
    >>> found.low.shape, bool(np.all(found.low < found.estimate))
    ((2,), True)
    """
    values = table(matrix)
    check_options(level, method, draws)
    units = Units.of(len(values), clusters=clusters)
    estimate, n, pull = _moments(values, units, memory)
    low, high = np.full((2, values.shape[1]), np.nan)
    # Half of the memory holds the means, with flags beside them; the other half makes them.
    width = max(1, memory // (2 * 10 * draws))
    if len(units) >= FEWEST_UNITS:
        for start in range(0, values.shape[1], width):
            part = slice(start, start + width)
            # The samples are drawn anew for each part, and are the same each time.
            means = bootstrap_means(
                values[:, part], draws=draws, seed=seed, clusters=clusters, memory=memory // 2
            )
            low[part], high[part] = _bounds(means, estimate[part], pull[part], level, method)
    warn_degenerate(len(units), undefined=bool(np.isnan(low).any()))
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        n=n,
        method=method_name(method, clusters is not None),
        reference=METHODS[method],
    )


def _moments(
    values: NDArray[np.generic], units: Units, memory: int
) -> tuple[_Floats, NDArray[np.int64], _Floats]:
    """Return mean, number of items and BCa's acceleration of each column.

    The acceleration is the skewness of the means with one unit left out.
    """
    mean, pull = np.empty((2, values.shape[1]))
    n = np.empty(values.shape[1], np.int64)
    width = max(1, memory // (5 * 8 * len(values)))
    for start in range(0, values.shape[1], width):
        part = slice(start, start + width)
        sums = UnitSums(values[:, part], units)
        total, count = sums.totals.sum(axis=0, dtype=float), sums.counts.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean[part] = total / count
            without = (total - sums.totals) / (count - sums.counts)
            without -= without.mean(axis=0)
            square = without**2
            spread = square.sum(axis=0)
            square *= without
            pull[part] = -square.sum(axis=0) / (6 * spread**1.5)
        n[part] = count
    return mean, n, pull


def _bounds(
    means: _Floats, estimate: _Floats, pull: _Floats, level: float, method: BootstrapMethod
) -> tuple[_Floats, _Floats]:
    """Return the interval of each column from its bootstrap means, which are put in order."""
    tails = ((1 - level) / 2, (1 + level) / 2)
    places = [np.full(estimate.shape, tail) for tail in tails]
    if method == "bca":
        with np.errstate(invalid="ignore"):
            bias = special.ndtri(((means < estimate).mean(0) + (means <= estimate).mean(0)) / 2)
            shifted = [bias + special.ndtri(tail) for tail in tails]
            places = [special.ndtr(bias + shift / (1 - pull * shift)) for shift in shifted]
    means.sort(axis=0)
    # A place of NaN belongs to a column that does not vary; NaN is sorted to the end.
    undefined = (means[0] == means[-1]) | np.isnan(means[-1]) | np.isnan(places).any(axis=0)
    low, high = (_quantile(means, np.where(undefined, 0, place)) for place in places)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def _quantile(ordered: _Floats, share: _Floats) -> _Floats:
    """Return one quantile of each column, by linear interpolation."""
    place = share * (len(ordered) - 1)
    below = np.minimum(place.astype(np.intp), len(ordered) - 2)
    columns = np.arange(ordered.shape[1])
    left, right = ordered[below, columns], ordered[below + 1, columns]
    return np.asarray(left + (right - left) * (place - below), float)
