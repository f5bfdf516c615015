"""Tango's score test and interval for a difference of paired proportions (numeric core)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
#: Halvings of [-1, 1]; 2 ** -60 is below the spacing of doubles near 1.
_HALVINGS = 62


def score_variance(b: _Ints, c: _Ints, n: _Ints, delta: _Floats) -> _Floats:
    """Return n² times the variance of (b - c) / n under a true difference `delta`.

    The discordance is the maximum-likelihood value restricted to ``P(b) - P(c) = delta``.

    Parameters
    ----------
    b, c, n : ndarray of int
        Discordant counts and number of items, n > 0.
    delta : ndarray of float
        In [-1, 1].

    References
    ----------
    Tango (1998), Statistics in Medicine 17:891-908, equations 10-12.
    """
    slope = (2 * n - b + c) * delta - b - c
    constant = -c * delta * (1 - delta)
    root = np.sqrt(np.maximum(slope**2 - 8 * n * constant, 0))
    discordance = (root - slope) / (4 * n)
    return np.maximum(n * (2 * discordance + delta * (1 - delta)), 0)


def tango_z(b: _Ints, c: _Ints, n: _Ints, *, delta: float) -> _Floats:
    """Return the score statistic of the hypothesis that the difference is `delta`.

    0 where the data agree exactly with a hypothesis that leaves no variance.
    """
    excess = np.asarray(b - c - n * delta, float)
    deviation = np.sqrt(score_variance(b, c, n, np.full(np.shape(n), float(delta))))
    with np.errstate(divide="ignore", invalid="ignore"):
        z: _Floats = np.where(excess == 0, 0.0, excess / deviation)
    return z


def tango_bounds(b: _Ints, c: _Ints, n: _Ints, *, z: float) -> tuple[_Floats, _Floats]:
    """Return the differences at which the score statistic is `z` and `-z`.

    Parameters
    ----------
    b, c, n : ndarray of int
        Of one shape, n > 0.
    z : float
        Normal quantile, positive.
    """
    low, high = _bound(b, c, n, z, -1.0), _bound(b, c, n, z, 1.0)
    return low, high


def _bound(b: _Ints, c: _Ints, n: _Ints, z: float, end: float) -> _Floats:
    # The squared statistic grows from 0 at the estimate to the end of the scale.
    inner: _Floats = np.asarray((b - c) / n, float)
    outer: _Floats = np.full(inner.shape, end)
    for _ in range(_HALVINGS):
        middle = (inner + outer) / 2
        rejected = (b - c - n * middle) ** 2 > z**2 * score_variance(b, c, n, middle)
        outer = np.where(rejected, middle, outer)
        inner = np.where(rejected, inner, middle)
    return inner
