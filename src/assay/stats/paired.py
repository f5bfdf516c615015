"""Two binary outcomes on the same items: exact McNemar test and score intervals."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from assay.core.errors import AnalysisError
from assay.stats.proportion import proportion_ci
from assay.stats.result import Interval, Test, unwrap
from assay.stats.sides import Alternative, check_alternative
from assay.stats.tango import tango_bounds

DifferenceMethod = Literal["tango", "newcombe"]
_Ints = NDArray[np.int64]

_REFERENCE = {
    "tango": "Tango (1998), Statistics in Medicine 17:891-908",
    "newcombe": "Newcombe (1998), Statistics in Medicine 17:2635-2650, method 10",
}


@dataclass(frozen=True)
class PairedCounts:
    """The 2 x 2 table of A's and B's outcomes on the same items, or an array of such tables.

    Attributes
    ----------
    both, neither : ndarray of int
        Items that both, or neither, answered right.
    b : ndarray of int
        A wrong and B right.
    c : ndarray of int
        A right and B wrong.

    Raises
    ------
    AnalysisError
        If a count is negative or not whole, or the shapes do not broadcast.
    """

    both: _Ints
    b: _Ints
    c: _Ints
    neither: _Ints

    def __post_init__(self) -> None:
        cells = _validate(self.both, self.b, self.c, self.neither)
        for name, cell in zip(("both", "b", "c", "neither"), cells, strict=True):
            object.__setattr__(self, name, cell)

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike) -> PairedCounts:
        """Count A's (`first`) and B's (`second`) outcomes along the last axis.

        Parameters
        ----------
        first, second : array_like of bool or 0/1
            Same items in the same order; leading axes broadcast.
        """
        a, b = np.broadcast_arrays(np.asarray(first), np.asarray(second))
        if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
            raise AnalysisError("paired outcomes must be 0 or 1.", fix="drop missing items first.")
        a, b = a.astype(bool), b.astype(bool)
        tables = (a & b, ~a & b, a & ~b, ~a & ~b)
        return cls(*(np.asarray(table.sum(axis=-1), np.int64) for table in tables))

    @property
    def n(self) -> _Ints:
        """Number of items."""
        return self.both + self.b + self.c + self.neither


def _validate(*cells: ArrayLike) -> list[_Ints]:
    arrays = np.broadcast_arrays(*(np.asarray(cell) for cell in cells))
    for array in arrays:
        if np.any(array < 0) or np.any(array != np.floor(array)):
            raise AnalysisError("a 2 x 2 table holds whole numbers that are not negative.")
    if np.any(sum(arrays) == 0):
        warnings.warn("no paired items: the comparison is undefined", RuntimeWarning, stacklevel=4)
    return [array.astype(np.int64) for array in arrays]


def mcnemar_exact(counts: PairedCounts, *, alternative: Alternative = "two-sided") -> Test:
    """Test whether A and B are equally often right on the same items.

    Conditional on the ``b + c`` discordant items, `b` is binomial with probability one half
    under the null.

    Parameters
    ----------
    counts : PairedCounts
    alternative : {"two-sided", "greater", "less"}
        "greater": B is right more often than A.

    Returns
    -------
    Test
        `statistic` is `b`; `attainable_p` is ``2 ** (1 - b - c)`` (two-sided), so that six
        discordant items are the fewest that reach .05. NaN where there are no items.

    References
    ----------
    McNemar (1947), Psychometrika 12:153-157; the exact form is the sign test.

    Examples
    --------
    >>> result = mcnemar_exact(PairedCounts(both=3, b=5, c=0, neither=2))
    >>> result.p_value
    0.0625
    """
    check_alternative(alternative)
    b, c, total = counts.b, counts.c, counts.b + counts.c
    tail = {"two-sided": np.minimum(b, c), "greater": c, "less": b}[alternative]
    sides = 2 if alternative == "two-sided" else 1
    p_value = np.minimum(1.0, sides * stats.binom.cdf(tail, total, 0.5))
    attainable = np.minimum(1.0, sides * np.exp2(-total.astype(float)))
    defined = counts.n > 0
    return Test(
        statistic=unwrap(np.where(defined, b, np.nan)),
        p_value=unwrap(np.where(defined, p_value, np.nan)),
        attainable_p=unwrap(np.where(defined, attainable, np.nan)),
        n=int(counts.n) if counts.n.ndim == 0 else counts.n,
        method=f"exact McNemar, {alternative}",
        reference="McNemar (1947), Psychometrika 12:153-157",
    )


def paired_difference(
    counts: PairedCounts, *, level: float = 0.95, method: DifferenceMethod = "tango"
) -> Interval:
    """Return B's accuracy minus A's with a confidence interval.

    Both methods keep their coverage where there are few or no discordant items, where the Wald
    interval has width zero.

    Parameters
    ----------
    counts : PairedCounts
    level : float
        Two-sided confidence level.
    method : {"tango", "newcombe"}
        Tango inverts the score test of a given difference; Newcombe combines two Wilson
        intervals, corrected for the correlation of the pairs.

    Returns
    -------
    Interval
        In units of accuracy (0.05 is five points). NaN where there are no items.

    Examples
    --------
    >>> result = paired_difference(PairedCounts(both=36, b=2, c=12, neither=0))
    >>> round(result.estimate, 2), round(result.low, 4), round(result.high, 4)
    (-0.2, -0.3447, -0.0611)
    """
    if method not in _REFERENCE:
        raise AnalysisError(f"unknown interval '{method}'.", fix="choose tango or newcombe.")
    if not 0 < level < 1:
        raise AnalysisError(f"a confidence level lies between 0 and 1, not {level}.")
    defined = counts.n > 0
    n = np.where(defined, counts.n, 1)
    z = float(special.ndtri((1 + level) / 2))
    low, high = (
        tango_bounds(counts.b, counts.c, n, z=z)
        if method == "tango"
        else _newcombe(counts, n, level)
    )
    estimate = (counts.b - counts.c) / n
    return Interval(
        estimate=unwrap(np.where(defined, estimate, np.nan)),
        low=unwrap(np.where(defined, low, np.nan)),
        high=unwrap(np.where(defined, high, np.nan)),
        level=level,
        n=int(counts.n) if counts.n.ndim == 0 else counts.n,
        method=method,
        reference=_REFERENCE[method],
    )


def _newcombe(
    counts: PairedCounts, n: _Ints, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first = proportion_ci(counts.both + counts.c, n, level=level)
    second = proportion_ci(counts.both + counts.b, n, level=level)
    product = counts.both * counts.neither - counts.b * counts.c
    product = np.where(product > 0, np.maximum(product - n / 2, 0), product)
    margins = np.sqrt(
        (counts.both + counts.b)
        * (counts.both + counts.c)
        * (counts.neither + counts.b)
        * (counts.neither + counts.c).astype(float)
    )
    phi = np.where(margins > 0, product / np.where(margins > 0, margins, 1), 0.0)

    def reach(up: NDArray[np.float64], down: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(np.maximum(up**2 - 2 * phi * up * down + down**2, 0))

    p, q = np.asarray(second.estimate), np.asarray(first.estimate)
    low = p - q - reach(p - second.low, first.high - q)
    high = p - q + reach(second.high - p, q - first.low)
    return low, high
