"""E-values for paired comparisons: evidence that stays valid whenever one stops looking."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from assay.core.errors import AnalysisError
from assay.stats.clusters import cluster_sums
from assay.stats.result import EValue, unwrap
from assay.stats.sides import Alternative, check_alternative

_Floats = NDArray[np.float64]
_PAIRED = "Ramdas & Wang (2025), Hypothesis Testing with E-values; Robbins (1970), AMS 41:1397-1409"
_CLUSTERED = "Waudby-Smith & Ramdas (2024), JRSS B 86:1-27 (betting on a bounded mean)"
#: Gauss-Legendre points of the default grid: exact for products of up to 127 clusters.
_POINTS = 64


def paired_evalue(b: ArrayLike, c: ArrayLike, *, alternative: Alternative = "two-sided") -> EValue:
    """Return the evidence that A and B are not equally often right on the same items.

    Parameters
    ----------
    b, c : array_like of int
        Discordant items: A wrong and B right, A right and B wrong. Broadcast.
    alternative : {"two-sided", "greater", "less"}
        "greater": B is right more often than A; valid where B is not, however often it is wrong.

    Returns
    -------
    EValue
        1 without discordant items. Its `n` counts discordant items.

    Raises
    ------
    AnalysisError
        If a count is negative or not whole.

    Notes
    -----
    The likelihood of the discordant items, averaged over the share in B's favour, against that
    of one half. The average is uniform on (0, 1), or on the half of it that the alternative
    names: the two-sided form is no e-value for a one-sided null, which harm to B also refutes.

    Examples
    --------
    >>> [round(paired_evalue(8, c).e, 4) for c in (0, 8)]
    [28.4444, 0.2995]
    >>> round(paired_evalue(8, 0, alternative="greater").e, 2)
    56.78
    """
    check_alternative(alternative)
    first, second = np.broadcast_arrays(np.asarray(b), np.asarray(c))
    for count in (first, second):
        if np.any(count < 0) or np.any(count != np.floor(count)):
            raise AnalysisError("discordant items are whole numbers that are not negative.")
    first, second = np.asarray(first, float), np.asarray(second, float)
    total = first + second
    if alternative == "two-sided":
        log_e, most = _uniform(first, second), _uniform(total, np.zeros_like(total))
    else:
        pro, con = (first, second) if alternative == "greater" else (second, first)
        log_e, most = _half_uniform(pro, con), _half_uniform(total, np.zeros_like(total))
    return EValue(
        log_e=unwrap(log_e),
        attainable_log_e=unwrap(most),
        n=int(total) if total.ndim == 0 else total.astype(np.int64),
        method=f"uniform mixture over discordant items, {alternative}",
        reference=_PAIRED,
    )


def _uniform(pro: _Floats, con: _Floats) -> _Floats:
    log_e: _Floats = special.betaln(pro + 1, con + 1) + (pro + con) * math.log(2)
    return log_e


def _half_uniform(pro: _Floats, con: _Floats) -> _Floats:
    share = np.asarray(special.betaincc(pro + 1, con + 1, 0.5))
    tiny = share < 1e-290
    log_e = np.asarray(_uniform(pro, con) + math.log(2) + np.log(np.where(tiny, 1.0, share)))
    if tiny.any():
        log_e[tiny] = _far_below_half(pro[tiny], con[tiny])
    return log_e


def _far_below_half(pro: _Floats, con: _Floats) -> _Floats:
    """Return the one-sided log e where the mass above one half underflows.

    The incomplete beta integral is a hypergeometric series there, whose powers of two cancel:
    e = F(b + c + 2, 1; c + 2; 1/2) / (2 c + 2).
    """
    term, total, k = np.ones_like(con), np.ones_like(con), 0
    while np.any(term > 1e-17 * total):
        term = term * (pro + con + 2 + k) / (2 * (con + 2 + k))
        total, k = total + term, k + 1
    return np.log(total) - np.log(2 * (con + 1))


def clustered_evalue(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    bound: float,
    alternative: Alternative = "two-sided",
    grid: ArrayLike | None = None,
) -> EValue:
    """Return the evidence that paired differences do not have mean zero, a cluster counting once.

    Parameters
    ----------
    differences : array_like of float, shape (item,)
        B's score minus A's on the same item, each in [-1, 1].
    clusters : array_like, shape (item,), optional
        A label an item; without it every item is a cluster of its own.
    bound : float
        The most items that a cluster can have, fixed before the data are seen.
    alternative : {"two-sided", "greater", "less"}
        "greater": the mean difference is positive.
    grid : array_like of float, optional
        Stakes between -1 and 1 (above 0 for a one-sided alternative) with equal weights, fixed
        before the data are seen. The default is Gauss-Legendre quadrature of the uniform
        distribution: with single items and bound 1 it gives `paired_evalue`.

    Returns
    -------
    EValue
        The weighted mean over stakes s of the product over clusters of 1 + s S, with S a
        cluster's sum over the bound. Its `n` counts clusters.

    Raises
    ------
    AnalysisError
        If a difference is out of range or missing, a cluster exceeds the bound, or a stake is
        out of range.

    Notes
    -----
    Valid when the expectation of each cluster's sum given the clusters before it is zero (not
    positive for "greater"); nothing is assumed of items within a cluster.

    Examples
    --------
    >>> round(clustered_evalue([1] * 8, bound=1).e, 2)
    28.44
    >>> round(clustered_evalue([1] * 8, [0, 0, 1, 1, 2, 2, 3, 3], bound=2).e, 2)
    3.2
    """
    check_alternative(alternative)
    sums, sizes = cluster_sums(differences, clusters)
    stakes, weights = _stakes(grid, alternative)
    if np.any(np.abs(np.asarray(differences, float)) > 1):
        raise AnalysisError("a difference of two scores in [0, 1] lies in [-1, 1].")
    if sizes.size and sizes.max() > bound:
        raise AnalysisError(
            f"a cluster of {sizes.max()} items exceeds the bound {bound:g}.",
            fix="fix the bound from the benchmark's design, before the data are seen.",
        )
    shares = (-sums if alternative == "less" else sums) / bound
    return EValue(
        log_e=_log_mixture(shares, stakes, weights),
        attainable_log_e=_log_mixture(np.abs(shares), stakes, weights),
        n=sums.size,
        method=f"mixture of bets on cluster sums, {alternative}",
        reference=_CLUSTERED,
    )


def _stakes(grid: ArrayLike | None, alternative: Alternative) -> tuple[_Floats, _Floats]:
    low = -1.0 if alternative == "two-sided" else 0.0
    if grid is None:
        points, weights = np.polynomial.legendre.leggauss(_POINTS)
        return (points * (1 - low) + 1 + low) / 2, weights / 2
    stakes = np.asarray(grid, float)
    if stakes.ndim != 1 or not stakes.size or not np.all((low < stakes) & (stakes < 1)):
        raise AnalysisError(f"stakes lie between {low:g} and 1.")
    return stakes, np.full(stakes.size, 1 / stakes.size)


def _log_mixture(shares: _Floats, stakes: _Floats, weights: _Floats) -> float:
    logs = np.array([np.log1p(stake * shares).sum() for stake in stakes])
    return float(special.logsumexp(logs, b=weights))
