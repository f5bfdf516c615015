"""The correlation of items with the score on all other items, in the data and in resamples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.leaderboard.correctness import Bools
from assay.stats.weights import FEWEST_UNITS, Units

Floats = NDArray[np.float64]

#: Sets this module's random numbers apart from others of the same seed.
_STREAM = 53
#: Cells of a (draw, item) table held at a time.
_CELLS = 2**22


def point_biserial(right: Bools) -> Floats:
    """Return the correlation of each item with the score on all other items.

    Parameters
    ----------
    right : ndarray of bool, shape (model, item)

    Returns
    -------
    ndarray of float, shape (item,)
        NaN where the item, or the score on the rest, is the same for every model.

    Notes
    -----
    The score leaves the item itself out; with it, an item of pure noise would correlate with its
    own contribution. Sums of 0 and 1 are exact, so that "the same for every model" is too.

    References
    ----------
    Lord & Novick (1968), Statistical Theories of Mental Test Scores, chapter 15.

    Examples
    --------
    >>> point_biserial(np.array([[1, 1, 1], [1, 0, 1], [0, 0, 1]], bool)).round(3).tolist()
    [0.5, 0.5, nan]
    """
    x = right.astype(float)
    found: Floats = _against_rest(x, x.sum(axis=1)[None], np.ones((1, x.shape[1])))[0]
    return found


def _against_rest(x: Floats, total: Floats, copies: Floats) -> Floats:
    """Return the correlations, shape (draw, item).

    Of items x, shape (model, item), that are in a draw `copies` times, shape (draw, item), with
    `total`, shape (draw, model), less all copies of the item. Everything is a whole number until
    the last line.
    """
    models, own = len(x), x.sum(axis=0)
    hits = total @ x
    rest = total.sum(axis=1)[:, None] - copies * own
    cross = models * (hits - copies * own) - own * rest
    squares = (total**2).sum(axis=1)[:, None] - 2 * copies * hits + copies**2 * own
    scale = np.sqrt(models * own - own**2) * np.sqrt(models * squares - rest**2)
    found: Floats = np.divide(cross, scale, out=np.full(scale.shape, np.nan), where=scale > 0)
    return found


def resampled_correlation(
    right: Bools,
    other: Floats,
    *,
    clusters: NDArray[np.intp] | None,
    draws: int,
    seed: int,
) -> Floats:
    """Return the correlation of `point_biserial` with another number, in resampled sets of items.

    Parameters
    ----------
    right : ndarray of bool, shape (model, item)
    other : ndarray of float, shape (item,)
        NaN where it is undefined.
    clusters : ndarray of int, shape (item,), or None
        Clusters are drawn whole.
    draws, seed : int

    Returns
    -------
    ndarray of float, shape (draw,)
        Scores are recomputed in every draw, since they rest on the items drawn; an item that is
        drawn twice is left out of its own rest twice. NaN where nothing varies; empty with fewer
        than six units to draw.
    """
    units = Units.of(len(other), clusters=clusters)
    if len(units) < FEWEST_UNITS:
        return np.zeros(0)
    of_item = np.empty(len(other), np.intp)
    of_item[units.order] = np.repeat(np.arange(len(units)), units.sizes)
    x = right.astype(float)
    rng = np.random.default_rng([seed, _STREAM])
    block = max(1, _CELLS // len(other))
    found = []
    for weights in units.weights(draws, rng, block=block):
        copies = weights.astype(float)[:, of_item]
        power = _against_rest(x, copies @ x.T, copies)
        found.append(_weighted(power, other, copies))
    return np.concatenate(found)


def _weighted(power: Floats, other: Floats, copies: Floats) -> Floats:
    """Return weighted correlations along the items, shape (draw,)."""
    known = np.isfinite(power) & np.isfinite(other)
    weight = np.where(known, copies, 0)
    size = np.maximum(weight.sum(axis=1, keepdims=True), 1)
    a, b = np.where(known, power, 0), np.where(known, other, 0)
    a = (a - (weight * a).sum(axis=1, keepdims=True) / size) * known
    b = (b - (weight * b).sum(axis=1, keepdims=True) / size) * known
    scale = np.sqrt((weight * a**2).sum(axis=1) * (weight * b**2).sum(axis=1))
    found: Floats = np.divide(
        (weight * a * b).sum(axis=1), scale, out=np.full(scale.shape, np.nan), where=scale > 0
    )
    return found
