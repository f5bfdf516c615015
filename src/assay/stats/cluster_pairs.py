"""The clustered test of `assay.stats.clusters` for all pairs of models at once, by products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.stats.clusters import MANY_CLUSTERS, weigh_few

_Floats = NDArray[np.float64]
_Ints = NDArray[np.intp]

#: Largest whole numbers that single precision adds without rounding.
_EXACT_SINGLE = 2.0**24
#: A sum of squares below this part of what it is the difference of may be zero.
_NOTHING = 1e-12


@dataclass(frozen=True)
class PairedTests:
    """Tests of some pairs; every array has the shape (pair,).

    Attributes
    ----------
    estimate, low, high, p_value : ndarray of float
        As `clustered_difference` gives them, two-sided; the interval is NaN without spread.
    """

    estimate: _Floats
    low: _Floats
    high: _Floats
    p_value: _Floats


def by_student(clusters: _Ints) -> bool:
    """Tell whether `clustered_difference` refers items in these clusters to Student's t."""
    sizes = np.unique(clusters, return_counts=True)[1]
    return sizes.size >= MANY_CLUSTERS and not weigh_few(sizes)


def clustered_pairs(
    scores: NDArray[np.integer], clusters: _Ints, first: _Ints, second: _Ints, *, level: float
) -> PairedTests:
    """Test for each pair whether the mean of first less second is zero.

    Parameters
    ----------
    scores : ndarray of int, shape (model, item)
        All models on the same items.
    clusters : ndarray of int, shape (item,)
        Such that `by_student` holds.
    first, second : ndarray of int, shape (pair,)
        Rows of `scores`.
    level : float
        Of the intervals.

    Notes
    -----
    The jackknife variance is a quadratic form of the cluster sums of two models, so that products
    of the models' own sums give it for every pair. Clusters of one size share their weight; their
    products are of whole numbers, which are exact at any number of threads.
    """
    codes, sizes = np.unique(clusters, return_inverse=True, return_counts=True)[1:]
    sums = _summed(scores, codes, sizes.size)
    groups, n = sizes.size, scores.shape[1]
    estimate = (sums.sum(axis=1)[first] - sums.sum(axis=1)[second]) / n
    form, scale, differ = np.zeros((3, first.size))
    for size in np.unique(sizes):
        some = sums[:, sizes == size]
        weight = 1.0 / (n - size) ** 2
        own, product = _gram(some)
        square = own[first] + own[second] - 2 * product[first, second]
        total = some.sum(axis=1)
        lead = total[first] - total[second]
        form += weight * (square + estimate * size * (estimate * size * some.shape[1] - 2 * lead))
        scale += weight * (own[first] + own[second])
        differ += some.shape[1] - _alike(some)[first, second]
    spread = form > _NOTHING * scale
    error = np.sqrt((groups - 1) / groups * np.where(spread, form, np.nan))
    tail = special.stdtr(groups - 1, -np.abs(estimate / error))
    # Without spread there is only the sign: nothing else than zero, or all that flips can say.
    tail = np.where(spread, tail, np.where(estimate == 0, 1.0, 0.0))
    reach = special.stdtrit(groups - 1, (1 + level) / 2) * error
    attainable = np.ldexp(1.0, -differ.astype(np.intc))
    p_value = np.minimum(2 * np.maximum(tail, attainable), 1.0)
    return PairedTests(estimate, estimate - reach, estimate + reach, p_value)


def _summed(scores: NDArray[np.integer], codes: _Ints, groups: int) -> _Floats:
    """Return the sum of each cluster, shape (model, cluster)."""
    if groups == scores.shape[1]:
        summed = np.empty(scores.shape)
        summed[:, codes] = scores
        return summed
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return np.add.reduceat(scores[:, order].astype(float), starts, axis=1)


def _gram(sums: _Floats) -> tuple[_Floats, _Floats]:
    """Return the square of each row, and the product of each two: exact, of whole numbers."""
    largest = float(np.abs(sums).max(initial=0)) ** 2 * sums.shape[1]
    exact = sums.astype(np.float32) if largest <= _EXACT_SINGLE else sums
    product = (exact @ exact.T).astype(float)
    return np.diag(product), product


def _alike(sums: _Floats) -> _Floats:
    """Count for each two rows the columns in which they are equal."""
    alike = np.zeros((len(sums), len(sums)))
    for value in np.unique(sums):
        there = (sums == value).astype(np.float32)
        alike += there @ there.T
    return alike
