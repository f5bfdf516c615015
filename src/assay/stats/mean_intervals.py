"""Bootstrap intervals of many means at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from assay.stats.exact_sums import UnitSums, mean_blocks
from assay.stats.resampling import (
    FEWEST_UNITS,
    METHODS,
    STREAM,
    BootstrapMethod,
    check_options,
    method_name,
    table,
    warn_degenerate,
)
from assay.stats.result import Interval
from assay.stats.weights import Units

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
    # Held at a time: the means of each sample, and the same in order. The samples are drawn anew
    # for each part, and are the same each time.
    width = max(1, memory // (4 * 8 * draws))
    parts = []
    for start in range(0, max(1, values.shape[1]), width):
        part = values[:, start : start + width]
        rng = np.random.default_rng([seed, STREAM])
        blocks = mean_blocks(part, units, draws=draws, rng=rng, memory=memory // 2)
        enough = len(units) >= FEWEST_UNITS
        means = np.concatenate(list(blocks)) if enough else np.full((draws, part.shape[1]), np.nan)
        parts.append(_intervals(UnitSums(part, units), means, level, method))
    estimate, low, high, n = (np.concatenate(found) for found in zip(*parts, strict=True))
    warn_degenerate(len(units), undefined=bool(np.isnan(low).any()))
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        n=n.astype(np.int64),
        method=method_name(method, clusters is not None),
        reference=METHODS[method],
    )


def _intervals(
    sums: UnitSums, means: _Floats, level: float, method: BootstrapMethod
) -> tuple[_Floats, _Floats, _Floats, _Floats]:
    """Return estimate, bounds and number of items of each column."""
    total = sums.totals.sum(axis=0, dtype=float)
    n = np.broadcast_to(sums.counts.sum(axis=0), total.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = total / n
        tails = ((1 - level) / 2, (1 + level) / 2)
        if method == "bca":
            bias = special.ndtri(((means < estimate).mean(0) + (means <= estimate).mean(0)) / 2)
            pull = _acceleration(sums, total, n)
            shifted = [bias + special.ndtri(tail) for tail in tails]
            places = [special.ndtr(bias + shift / (1 - pull * shift)) for shift in shifted]
        else:
            places = [np.full(estimate.shape, tail) for tail in tails]
    means.sort(axis=0)
    # A place of NaN belongs to a column that does not vary; NaN is sorted to the end.
    undefined = (means[0] == means[-1]) | np.isnan(means[-1]) | np.isnan(places).any(axis=0)
    low, high = (_quantile(means, np.where(undefined, 0, place)) for place in places)
    return estimate, np.where(undefined, np.nan, low), np.where(undefined, np.nan, high), n


def _acceleration(sums: UnitSums, total: _Floats, n: _Floats) -> _Floats:
    """Return the skewness term of BCa from leaving out one unit at a time."""
    without = (total - sums.totals) / (n - sums.counts)
    without -= without.mean(axis=0)
    square = without**2
    spread = square.sum(axis=0)
    square *= without
    return np.asarray(-square.sum(axis=0) / (6 * spread**1.5), float)


def _quantile(ordered: _Floats, share: _Floats) -> _Floats:
    """Return one quantile of each column, by linear interpolation."""
    place = share * (len(ordered) - 1)
    below = np.minimum(place.astype(np.intp), len(ordered) - 2)
    columns = np.arange(ordered.shape[1])
    left, right = ordered[below, columns], ordered[below + 1, columns]
    return np.asarray(left + (right - left) * (place - below), float)
