"""Two groups of different items: shares and scores."""

from __future__ import annotations

import math
import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from assay.core.errors import AnalysisError
from assay.stats.proportion import proportion_ci
from assay.stats.result import Interval, Test, unwrap
from assay.stats.sides import Alternative, check_alternative

TableMethod = Literal["fisher", "barnard"]
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_TABLE_REFERENCE = {
    "fisher": "Fisher (1935), JRSS 98:39-82",
    "barnard": "Barnard (1947), Biometrika 34:123-138",
}


def unpaired_difference(
    hits_a: ArrayLike, n_a: ArrayLike, hits_b: ArrayLike, n_b: ArrayLike, *, level: float = 0.95
) -> Interval:
    """Return B's share minus A's, on different items, with a confidence interval.

    Parameters
    ----------
    hits_a, n_a, hits_b, n_b : array_like of int
        Items answered right and items asked, of each group. Broadcast.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval
        Newcombe's combination of two Wilson intervals, in units of accuracy; its `n` counts the
        items of both groups. NaN, with a RuntimeWarning, where a group is empty.

    Raises
    ------
    AnalysisError
        If counts are negative, not whole or exceed their group, or the level is out of range.

    Notes
    -----
    Where both models answered the same items, `paired_difference` is sharper. A bootstrap
    interval that excludes 0 is no test: with groups of 10 and 100 it does so far too often.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:873-890, method 10.

    Examples
    --------
    >>> result = unpaired_difference(48, 80, 56, 70)
    >>> round(result.estimate, 2), round(result.low, 4), round(result.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    first = proportion_ci(hits_a, n_a, level=level)
    second = proportion_ci(hits_b, n_b, level=level)
    estimate = np.asarray(second.estimate) - first.estimate
    below = np.hypot(
        np.asarray(second.estimate) - second.low, np.asarray(first.high) - first.estimate
    )
    above = np.hypot(
        np.asarray(second.high) - second.estimate, np.asarray(first.estimate) - first.low
    )
    n: _Ints = np.asarray(first.n, np.int64) + np.asarray(second.n, np.int64)
    return Interval(
        estimate=unwrap(estimate),
        low=unwrap(np.asarray(estimate - below)),
        high=unwrap(np.asarray(estimate + above)),
        level=level,
        n=int(n) if n.ndim == 0 else n,
        method="newcombe",
        reference="Newcombe (1998), Statistics in Medicine 17:873-890, method 10",
    )


def fisher_exact(
    table: ArrayLike, *, alternative: Alternative = "two-sided", method: TableMethod = "fisher"
) -> Test:
    """Test whether two groups of different items have the same share.

    Parameters
    ----------
    table : array_like of int, shape (2, 2)
        A row a group: items answered right, items answered wrong.
    alternative : {"two-sided", "greater", "less"}
        As in scipy, "greater": the share of the FIRST row is the larger one.
    method : {"fisher", "barnard"}
        Fisher conditions on the number of right answers in both groups; Barnard only on the
        groups' sizes, which has more power with few items.

    Returns
    -------
    Test
        `statistic` is the sample odds ratio, or Barnard's pooled z. `attainable_p` is that of
        the most extreme table with the same margins (Barnard: the same group sizes). NaN, with a
        RuntimeWarning, where a group is empty.

    Raises
    ------
    AnalysisError
        If the table is not 2 x 2 whole counts, or an option is unknown.

    Notes
    -----
    Barnard's test is not scipy's: where two tables are exactly as extreme, rounding may make
    scipy count only one of them (for [[8, 2], [1, 5]] it returns .0132 instead of .0167).

    Examples
    --------
    >>> [round(fisher_exact([[8, 2], [1, 5]], method=m).p_value, 4) for m in ("fisher", "barnard")]
    [0.035, 0.0167]
    """
    counts = _validate_table(table, alternative, method)
    statistic, p_value, attainable = math.nan, math.nan, math.nan
    if counts.sum(axis=1).all():
        statistic, p_value = _table_test(counts, alternative, method)
        extremes = [_table_test(t, alternative, method)[1] for t in _extremes(counts, method)]
        attainable = min(p_value, *extremes)
    else:
        _warn("a group is empty: the comparison is undefined")
    return Test(
        statistic=statistic,
        p_value=p_value,
        attainable_p=attainable,
        n=int(counts.sum()),
        method=f"{method.capitalize()}'s exact test, {alternative}",
        reference=_TABLE_REFERENCE[method],
    )


def _validate_table(table: ArrayLike, alternative: str, method: str) -> _Ints:
    check_alternative(alternative)
    if method not in _TABLE_REFERENCE:
        raise AnalysisError(f"unknown test '{method}'.", fix="choose fisher or barnard.")
    counts = np.asarray(table)
    if counts.shape != (2, 2) or np.any(counts < 0) or np.any(counts != np.floor(counts)):
        raise AnalysisError("a 2 x 2 table holds whole numbers that are not negative.")
    return counts.astype(np.int64)


def _table_test(counts: _Ints, alternative: Alternative, method: str) -> tuple[float, float]:
    if not counts.sum(axis=0).all():
        return math.nan, 1.0  # All right or all wrong: no sign of a difference.
    if method == "barnard":
        return _barnard(counts, alternative)
    found = stats.fisher_exact(counts, alternative=alternative)
    return float(found.statistic), float(found.pvalue)


def _barnard(counts: _Ints, alternative: Alternative) -> tuple[float, float]:
    """Return the pooled z and the largest probability of as large a one under any common share."""
    sizes = counts.sum(axis=1)
    hits = [np.arange(size + 1) for size in sizes]
    share = (hits[0][:, None] + hits[1]) / sizes.sum()
    gap = hits[0][:, None] / sizes[0] - hits[1] / sizes[1]
    variance = share * (1 - share) * (1 / sizes).sum()
    z = gap / np.sqrt(np.where(variance > 0, variance, 1.0))
    observed = float(z[counts[0, 0], counts[1, 0]])
    side = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    # Equally extreme tables differ by rounding.
    extreme = (side(z) >= side(observed) - 1e-9).astype(float)

    def tail(common: _Floats) -> _Floats:
        first, second = (
            stats.binom.pmf(h, n, common[:, None]) for h, n in zip(hits, sizes, strict=True)
        )
        return np.asarray(((first @ extreme) * second).sum(axis=1))

    grid = np.linspace(0, 1, 1001)
    best = grid[np.argmax(tail(grid))]
    found = optimize.minimize_scalar(
        lambda common: -tail(np.array([common]))[0],
        bounds=(max(0.0, best - 1e-3), min(1.0, best + 1e-3)),
        method="bounded",
    )
    return observed, min(1.0, max(-float(found.fun), float(tail(grid).max())))


def _extremes(counts: _Ints, method: str) -> list[_Ints]:
    first, second = counts.sum(axis=1)
    if method == "barnard":
        return [np.array([[first, 0], [0, second]]), np.array([[0, first], [second, 0]])]
    right = counts[:, 0].sum()
    return [
        np.array([[hits, first - hits], [right - hits, second - right + hits]])
        for hits in (min(first, right), max(0, right - second))
    ]


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)
