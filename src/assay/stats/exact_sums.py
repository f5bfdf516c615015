"""Weighted sums by matrix products without rounding: the same at any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.stats.weights import Units

_Floats = NDArray[np.float64]

#: Whole numbers up to here are exact in single and in double precision.
_EXACT_SINGLE, _EXACT_DOUBLE = 2.0**24, 2.0**53


class UnitSums:
    """Sums of each unit over the items, ready to be weighted.

    Every value becomes a whole multiple of a power of two, chosen for its column such that no
    weighted sum of the multiples exceeds what the floating-point type counts without rounding.
    Then the order of addition, which depends on the number of threads, changes nothing. Whole
    numbers, such as bits, stay what they are; other values move by less than one part in
    2**53 / units of the largest.

    Parameters
    ----------
    values : ndarray, shape (item, column)
        NaN is missing.
    units : Units

    Attributes
    ----------
    totals : ndarray of float, shape (unit, column)
        Sum of the values that are not missing.
    counts : ndarray of float, shape (unit, column) or (unit, 1)
        Number of such values; one column where nothing is missing.
    """

    def __init__(self, values: NDArray[np.generic], units: Units):
        # bool and integers cannot be missing, and np.isnan would copy them as floats.
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(1, bool)
        if missing.any():
            self.totals = units.sums(np.where(missing, 0, values))
            self.counts = units.sums(~missing)
        else:
            self.totals = units.sums(values)
            self.counts = units.sizes[:, None].astype(np.float64)
        if not np.isfinite(self.totals).all():
            raise AnalysisError("values to be resampled must be finite, or NaN where missing.")
        self._totals = _Exact(self.totals)
        self._counts = _Exact(self.counts) if missing.any() or np.ptp(units.sizes) else None

    def means(self, weights: NDArray[np.float32]) -> _Floats:
        """Return the weighted mean of each column, shape (draw, column).

        NaN where everything that was drawn is missing.
        """
        totals = self._totals.weighted(weights)
        if self._counts is None:
            return np.asarray(totals / self.counts.sum(), float)
        counts = self._counts.weighted(weights)
        with np.errstate(invalid="ignore"):
            return np.asarray(totals / counts, float)


class _Exact:
    """A matrix as whole multiples of one power of two for each column."""

    def __init__(self, matrix: NDArray[np.floating]):
        bound = len(matrix) * np.abs(matrix).max(axis=0).astype(float)
        whole = bool((matrix == np.rint(matrix)).all())
        self._exponent: NDArray[np.intc] | None = None
        if whole and bound.max(initial=0) <= _EXACT_SINGLE:
            self._multiples = matrix.astype(np.float32, copy=False)
        elif whole and bound.max() <= _EXACT_DOUBLE:
            self._multiples = matrix.astype(np.float64, copy=False)
        else:
            self._exponent = 52 - np.frexp(bound)[1]
            self._multiples = np.rint(np.ldexp(matrix.astype(float), self._exponent))

    def weighted(self, weights: NDArray[np.float32]) -> _Floats:
        """Return weights @ matrix, exact."""
        product = weights.astype(self._multiples.dtype, copy=False) @ self._multiples
        exact = product.astype(np.float64, copy=False)
        return exact if self._exponent is None else np.ldexp(exact, -self._exponent)


def mean_blocks(
    values: NDArray[np.generic],
    units: Units,
    *,
    draws: int,
    rng: np.random.Generator,
    memory: int,
) -> Iterator[_Floats]:
    """Yield the means of bootstrap samples, some samples at a time.

    Parameters
    ----------
    values : ndarray, shape (item, column)
    units : Units
    draws : int
    rng : numpy.random.Generator
    memory : int
        Bytes to hold at a time, about; the result does not depend on it.

    Yields
    ------
    ndarray of float, shape (draw, column)
    """
    items, columns = values.shape
    # A column takes two doubles and a float an item, a sample a weight a unit and two means.
    width = max(1, min(columns, memory // (2 * 20 * items)))
    block = max(1, min(draws, 1024, memory // (2 * (4 * len(units) + 16 * columns))))
    slices = [slice(start, start + width) for start in range(0, columns, width)]
    kept = [UnitSums(values[:, part], units) for part in slices] if len(slices) == 1 else None
    for weights in units.weights(draws, rng, block=block):
        parts = kept or (UnitSums(values[:, part], units) for part in slices)
        yield np.concatenate([part.means(weights) for part in parts], axis=1)
