"""Permutation tests: what a statistic would be if labels meant nothing."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import AnalysisError
from assay.stats.result import Test, unwrap
from assay.stats.sides import Alternative, check_alternative

_Arrangement = TypeVar("_Arrangement")
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_REFERENCE = "Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9:39"
#: Sets this module's random numbers apart from others of the same seed.
_STREAM = 13
#: Statistics that differ by less, relative to their size, are equal but for rounding.
_ROUNDING = 1e-12


def permutation_test(
    statistic: Callable[[_Arrangement], Any],
    permute: Callable[[np.random.Generator], _Arrangement] | Iterable[_Arrangement],
    *,
    observed: ArrayLike,
    draws: int = 10_000,
    seed: int,
    alternative: Alternative = "greater",
) -> Test:
    """Compare a statistic with its values on data rearranged as the null hypothesis allows.

    Parameters
    ----------
    statistic : callable
        Maps an arrangement to a number, or to an array of numbers, each tested by itself.
    permute : callable or iterable
        A function that draws an arrangement from a random generator; or all arrangements, the
        observed one among them, for the exact test (`shuffles` and `sign_flips` give whichever
        is right for the size).
    observed : array_like of float
        The statistic of the data.
    draws : int
        Number of arrangements drawn; the exact test takes all.
    seed : int
        Not used by the exact test.
    alternative : {"greater", "less", "two-sided"}
        The side on which the statistic is extreme; two-sided doubles the smaller p-value.

    Returns
    -------
    Test
        `n` is the number of arrangements, `attainable_p` what their most extreme value would
        give. NaN, with a RuntimeWarning, where the statistic of the data or of an arrangement is
        undefined.

    Raises
    ------
    AnalysisError
        If an option is out of range or there are no arrangements.

    Notes
    -----
    The observed arrangement is one of those that were possible: (1 + k) / (1 + draws), where k
    drawn arrangements are at least as extreme. k / draws rejects too often, and may be 0.

    Examples
    --------
    >>> heights = np.array([3.1, 2.9, 3.3, 1.2, 1.4])
    >>> gap = lambda order: heights[order[:3]].mean() - heights[order[3:]].mean()
    >>> found = permutation_test(gap, shuffles(5), observed=gap(np.arange(5)), seed=1)
    >>> found.p_value, found.n
    (0.1, 120)
    """
    value = _validate(observed, draws, alternative)
    if callable(permute):
        rng = np.random.default_rng([seed, _STREAM])
        null = _values(statistic(permute(rng)) for _ in range(draws))
    else:
        null = _values(map(statistic, permute))
    if null.shape[1:] != value.shape or not len(null):
        raise AnalysisError(
            f"{len(null)} arrangements gave statistics of shape {null.shape[1:]}; "
            f"the observed one has shape {value.shape}."
        )
    p_value, attainable = _p_values(null, value, alternative, extra=int(callable(permute)))
    known = ~(np.isnan(null).any(axis=0) | np.isnan(value))
    if not known.all():
        warnings.warn("the statistic is undefined for an arrangement", RuntimeWarning, stacklevel=2)
    return Test(
        statistic=unwrap(value),
        p_value=unwrap(np.where(known, p_value, np.nan)),
        attainable_p=unwrap(np.where(known, attainable, np.nan)),
        n=len(null),
        method=f"{'Monte Carlo' if callable(permute) else 'exact'} permutation test, {alternative}",
        reference=_REFERENCE,
    )


def shuffles(
    n: int, *, limit: int = 10_000
) -> Callable[[np.random.Generator], _Ints] | Iterable[_Ints]:
    """Return all orders of `n` things, or a way to draw one if there are more than `limit`.

    Parameters
    ----------
    n : int
    limit : int

    Examples
    --------
    >>> [order.tolist() for order in shuffles(2)]
    [[0, 1], [1, 0]]
    """
    if math.factorial(n) > limit:
        return lambda rng: rng.permutation(n)
    return [np.array(order, np.int64) for order in itertools.permutations(range(n))]


def sign_flips(
    n: int, *, limit: int = 10_000
) -> Callable[[np.random.Generator], _Ints] | Iterable[_Ints]:
    """Return all patterns of `n` signs, or a way to draw one if there are more than `limit`.

    Parameters
    ----------
    n : int
    limit : int

    Examples
    --------
    >>> [signs.tolist() for signs in sign_flips(2)]
    [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    """
    if 2**n > limit:
        return lambda rng: 1 - 2 * rng.integers(2, size=n)
    return [np.array(signs, np.int64) for signs in itertools.product((1, -1), repeat=n)]


def _values(statistics: Iterable[Any]) -> _Floats:
    return np.array([np.asarray(value, float) for value in statistics])


def _p_values(
    null: _Floats, value: _Floats, alternative: Alternative, *, extra: int
) -> tuple[_Floats, _Floats]:
    """Return p-values and the smallest attainable ones; `extra` arrangements are the data's."""
    if alternative == "two-sided":
        sides = (_p_values(null, value, side, extra=extra) for side in ("greater", "less"))
        (above, least_above), (below, least_below) = sides
        return (
            np.minimum(1, 2 * np.minimum(above, below)),
            np.minimum(1, 2 * np.minimum(least_above, least_below)),
        )
    if alternative == "less":
        null, value = -null, -value
    slack = _ROUNDING * np.abs(value)
    total = len(null) + extra
    as_extreme = (null >= value - slack).sum(axis=0) + extra
    most = null.max(axis=0)
    least = extra or (null >= most - _ROUNDING * np.abs(most)).sum(axis=0)
    return np.asarray(as_extreme / total), np.asarray(np.broadcast_to(least / total, value.shape))


def _validate(observed: ArrayLike, draws: int, alternative: str) -> _Floats:
    check_alternative(alternative)
    if draws < 1:
        raise AnalysisError(f"a permutation test needs at least one draw, not {draws}.")
    return np.asarray(observed, float)
