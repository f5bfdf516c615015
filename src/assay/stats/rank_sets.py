"""Confidence sets for the ranks of a leaderboard."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import AnalysisError
from assay.stats.weights import FEWEST_UNITS, Units

_Floats = NDArray[np.float64]
_Ranks = NDArray[np.int64]
_Flags = NDArray[np.bool_]

_REFERENCE = (
    "Mogstad, Romano, Shaikh & Wilhelm (2024), Review of Economic Studies 91:476-518; "
    "Romano & Wolf (2005), JASA 100:94-108 (stepwise critical values)"
)
#: Sets this module's random numbers apart from others of the same seed.
_STREAM = 12
#: Differences between models that are held at a time.
_BLOCK = 2**22


@dataclass(frozen=True, slots=True)
class RankSets:
    """Ranks that the data allow each model; 1 is the best.

    Attributes
    ----------
    rank : ndarray of int, shape (model,)
        One more than the number of models with a higher mean: ties share the better rank.
    low, high : ndarray of int, shape (model,)
        With probability `level` the true rank of every model lies in its set [low, high].
    marginal_low, marginal_high : ndarray of int, shape (model,)
        The same for each model by itself; never wider.
    level : float
    n : int
        Number of items.
    units : int
        Number of items, or of clusters, that the error rests on.
    method, reference : str
    """

    rank: _Ranks
    low: _Ranks
    high: _Ranks
    marginal_low: _Ranks
    marginal_high: _Ranks
    level: float
    n: int
    units: int
    method: str = "studentised largest difference by sign flips, stepwise"
    reference: str = _REFERENCE


def rank_confidence(
    outcomes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    draws: int = 2_000,
    seed: int,
) -> RankSets:
    """Return confidence sets for the ranks of models compared on the same items.

    The rank of a model is settled as far as its differences from the others are: it stands below
    every model found to be better, and above every model found to be worse.

    Parameters
    ----------
    outcomes : array_like of float, shape (item, model)
        Correctness, or any score where more is better.
    clusters : array_like, shape (item,), optional
        Label of each item's cluster.
    level : float
        Confidence level of the sets.
    draws : int
        Number of random sign patterns; all are taken where there are no more than this.
    seed : int

    Returns
    -------
    RankSets
        With fewer than six units every rank is possible, and a RuntimeWarning says why.

    Raises
    ------
    AnalysisError
        If an outcome is missing, there is no item or model, or an option is out of range.

    Notes
    -----
    The largest of the studentised differences is compared with its distribution when each unit's
    outcomes change sign together for all models. Differences that are found drop out, and the
    critical value of the rest is taken anew until nothing more is found.

    For two models and binary outcomes this is the exact McNemar test, up to random draws.
    The bootstrap of Mogstad et al., which resamples items, is the same in large samples; among 12
    equal models on 60 items it finds a difference in 8 % of simulations where 5 % is promised.
    A difference is divided by its root mean square, not its standard deviation, so that models
    that differ on every item in the same way do not differ infinitely.

    Examples
    --------
    >>> outcomes = np.repeat([[1, 1, 0], [0, 0, 0], [1, 0, 1]], [60, 20, 20], axis=0)
    >>> sets = rank_confidence(outcomes, seed=1)
    >>> sets.low.tolist(), sets.high.tolist()
    ([1, 2, 3], [1, 2, 3])
    """
    values = _validate(outcomes, level, draws)
    items, models = values.shape
    units = Units.of(items, clusters=clusters)
    sums = np.asarray(units.sums(values), float)
    totals = sums.sum(axis=0)
    rank = 1 + np.sum(totals[:, None] < totals, axis=1)
    if len(units) < FEWEST_UNITS:
        warnings.warn(
            f"{len(units)} units are too few to order models ({FEWEST_UNITS} needed)",
            RuntimeWarning,
            stacklevel=2,
        )
        low, high = np.ones(models, np.int64), np.full(models, models)
        return RankSets(rank, low, high, low, high, level, items, len(units))
    search = _Search(sums, alpha=1 - level, draws=draws, seed=seed)
    (better, worse), (alone_better, alone_worse) = map(search.found, (True, False))
    return RankSets(
        rank=rank,
        low=1 + better.sum(axis=1),
        high=models - worse.sum(axis=1),
        marginal_low=1 + alone_better.sum(axis=1),
        marginal_high=models - alone_worse.sum(axis=1),
        level=level,
        n=items,
        units=len(units),
    )


class _Search:
    """Stepwise search for differences, given the outcomes summed over each unit."""

    def __init__(self, sums: _Floats, *, alpha: float, draws: int, seed: int):
        whole = _whole(sums)
        gram = whole.T @ whole
        squares = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
        # Models with equal outcomes cannot be told apart: their difference counts as nothing.
        with np.errstate(divide="ignore"):
            self._scale = np.where(squares > 0, 1 / np.sqrt(squares), 0.0)
        totals = whole.sum(axis=0)
        self._observed = np.subtract.outer(totals, totals) * self._scale
        # Among all patterns the data are one; to drawn ones they are added.
        exact = 2 ** min(len(whole), 64) <= draws
        signs = _all_signs(len(whole)) if exact else _drawn_signs(len(whole), draws, seed)
        self._flipped = np.concatenate([block @ whole for block in signs])
        allowed = int((len(self._flipped) + (not exact)) * alpha + 1e-9)
        self._place = allowed + 1 if exact else allowed
        everything = ~np.eye(len(gram), dtype=bool)
        self._first = self._largest(everything, everything)

    def found(self, jointly: bool) -> tuple[_Flags, _Flags]:
        """Return which models are better, and which are worse, than the model of each row.

        With `jointly`, the chance of any false finding is at most alpha; else that of any in a
        given row.
        """
        above = below = ~np.eye(len(self._scale), dtype=bool)
        largest = self._first
        while True:
            critical = self._critical(largest.max(axis=1, keepdims=True) if jointly else largest)
            still_above = above & (self._observed <= critical)
            still_below = below & (-self._observed <= critical)
            if np.array_equal(still_above, above) and np.array_equal(still_below, below):
                break
            above, below = still_above, still_below
            largest = self._largest(above, below)
        others = ~np.eye(len(self._scale), dtype=bool)
        return others & ~below, others & ~above

    def _critical(self, largest: _Floats) -> _Floats:
        """Return what a finding must exceed, of shape (model, 1) or (1, 1)."""
        if self._place < 1:
            return np.full((largest.shape[1], 1), np.inf)
        place = max(0, len(largest) - self._place)
        return np.asarray(np.partition(largest, place, axis=0)[place][:, None], float)

    def _largest(self, above: _Flags, below: _Flags) -> _Floats:
        """Return the largest open difference of each row in each draw, shape (draw, model)."""
        # Adding 0 or minus infinity is much faster than choosing.
        shut_above, shut_below = (np.where(flags, 0.0, -np.inf) for flags in (above, below))
        largest = np.empty_like(self._flipped)
        for block in _blocks(len(largest), _BLOCK // self._scale.size):
            sums = self._flipped[block]
            difference = (sums[:, :, None] - sums[:, None, :]) * self._scale
            one = (difference + shut_above).max(axis=2)
            largest[block] = np.maximum(one, (shut_below - difference).max(axis=2))
        return largest


def _whole(sums: _Floats) -> _Floats:
    """Return whole multiples of a power of two whose squares can be added without rounding.

    Whole numbers stay as they are where they can; with them the result is the same at any
    number of threads.
    """
    bound = float(np.abs(sums).max())
    room = 51 - int(np.ceil(np.log2(len(sums))))
    if (sums == np.rint(sums)).all() and bound**2 <= 2.0**room:
        return sums
    exponent = room // 2 - int(np.frexp(bound)[1])
    return np.asarray(np.rint(np.ldexp(sums, exponent)), float)


def _all_signs(units: int) -> Iterator[_Floats]:
    """Yield all patterns of signs, in one block of shape (pattern, unit)."""
    number = np.arange(2**units)[:, None]
    yield np.asarray(1 - 2 * ((number >> np.arange(units)) & 1), float)


def _drawn_signs(units: int, draws: int, seed: int) -> Iterator[_Floats]:
    """Yield random patterns of signs, in blocks of shape (draw, unit)."""
    rng = np.random.default_rng([seed, _STREAM])
    for block in _blocks(draws, _BLOCK // units):
        # One call a draw: blocks of another size would read the random bits differently.
        count = len(range(draws)[block])
        bits = [rng.integers(2, size=units, dtype=np.uint8) for _ in range(count)]
        yield 2 * np.stack(bits).astype(np.float64) - 1


def _blocks(length: int, size: int) -> Iterator[slice]:
    step = max(1, size)
    return (slice(start, start + step) for start in range(0, length, step))


def _validate(outcomes: ArrayLike, level: float, draws: int) -> _Floats:
    values = np.asarray(outcomes, float)
    if values.ndim != 2 or not values.size:
        raise AnalysisError("ranks need a table of outcomes, one row an item, one column a model.")
    if not np.isfinite(values).all():
        raise AnalysisError(
            "ranks need an outcome of every model on every item.",
            fix="keep the items that all models answered.",
        )
    if not 0 < level < 1:
        raise AnalysisError(f"a confidence level lies between 0 and 1, not {level}.")
    if draws < 1:
        raise AnalysisError(f"rank confidence needs at least one draw, not {draws}.")
    return values
