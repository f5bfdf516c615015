"""Which of several conditions differ, after a test that some do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats.conditions import complete_table, telling_rows
from assay.stats.multiplicity import Adjusted, adjust_p
from assay.stats.paired import PairedCounts, mcnemar_exact
from assay.stats.result import Test

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Nemenyi:
    """All pairwise comparisons of mean ranks.

    Attributes
    ----------
    mean_ranks : ndarray of float, shape (condition,)
        1 is the lowest score.
    p_values : ndarray of float, shape (condition, condition)
        Adjusted for all pairs; 1 on the diagonal.
    critical_difference : float
        Difference of mean ranks that is significant at alpha.
    alpha : float
        Family-wise error rate.
    n : int
        Number of items.
    method, reference : str
    """

    mean_ranks: _Floats
    p_values: _Floats
    critical_difference: float
    alpha: float
    n: int
    method: str
    reference: str


def nemenyi(scores: ArrayLike, *, alpha: float = 0.05) -> Nemenyi:
    """Compare all pairs of conditions by their mean ranks over items.

    Parameters
    ----------
    scores : array_like of float, shape (item, condition)
        Ranked scores, complete. For binary outcomes use `pairwise_mcnemar`.
    alpha : float
        Family-wise error rate, any between 0 and 1.

    Returns
    -------
    Nemenyi
        NaN, with a RuntimeWarning, where no item tells two conditions apart.

    Raises
    ------
    AnalysisError
        If the table is not complete or alpha is out of range.

    Notes
    -----
    The variance of a mean rank is taken without ties, which makes the comparison of tied scores
    conservative.

    References
    ----------
    Nemenyi (1963), Distribution-free multiple comparisons; Demšar (2006), JMLR 7:1-30.

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(size=(30, 4))
    >>> round(nemenyi(scores).critical_difference, 3)
    0.856
    """
    table = complete_table(scores)
    if not 0 < alpha < 1:
        raise AnalysisError(f"alpha lies between 0 and 1, not {alpha}.")
    n, conditions = table.shape
    ranks, p_values = np.full(conditions, np.nan), np.full((conditions,) * 2, np.nan)
    critical = math.nan
    if telling_rows(table).size:
        # Twice the variance of a difference of mean ranks is that of the studentised range.
        error = math.sqrt(conditions * (conditions + 1) / (12 * n))
        ranks = stats.rankdata(table, axis=1).mean(axis=0)
        gaps, place = np.unique(np.abs(ranks[:, None] - ranks), return_inverse=True)
        tails = stats.studentized_range.sf(gaps / error, conditions, np.inf)
        p_values = np.clip(tails, 0, 1)[place].reshape(p_values.shape)
        critical = error * float(stats.studentized_range.isf(alpha, conditions, np.inf))
    return Nemenyi(
        mean_ranks=ranks,
        p_values=p_values,
        critical_difference=critical,
        alpha=alpha,
        n=n,
        method="Nemenyi",
        reference="Demšar (2006), JMLR 7:1-30",
    )


@dataclass(frozen=True, slots=True)
class PairwiseMcNemar:
    """Exact McNemar tests of all pairs of conditions, and their correction.

    Attributes
    ----------
    pairs : ndarray of int, shape (pair, 2)
        Positions of A and B; `counts` and `test` compare B with A.
    counts : PairedCounts
        Arrays of shape (pair,).
    test : Test
        Arrays of shape (pair,), not adjusted.
    adjusted : Adjusted
        Holm's p-values in the order of `pairs`.
    """

    pairs: NDArray[np.intp]
    counts: PairedCounts
    test: Test
    adjusted: Adjusted


def pairwise_mcnemar(outcomes: ArrayLike) -> PairwiseMcNemar:
    """Compare all pairs of conditions by exact McNemar tests with Holm's correction.

    Parameters
    ----------
    outcomes : array_like of bool or 0/1, shape (item, condition)
        Complete.

    Returns
    -------
    PairwiseMcNemar

    Raises
    ------
    AnalysisError
        If the table is not binary or not complete.

    Examples
    --------
    >>> found = pairwise_mcnemar([[1, 1, 0]] * 8 + [[0, 0, 1]] * 1)
    >>> found.pairs.tolist(), found.adjusted.p_values.round(3).tolist()
    ([[0, 1], [0, 2], [1, 2]], [1.0, 0.117, 0.117])
    """
    table = complete_table(outcomes)
    if not np.isin(table, (0, 1)).all():
        raise AnalysisError("McNemar's test needs outcomes that are 0 or 1.")
    first, second = np.triu_indices(table.shape[1], 1)
    ones = table.sum(axis=0).astype(np.int64)
    both = (table.T @ table).astype(np.int64)[first, second]
    b, c = ones[second] - both, ones[first] - both
    counts = PairedCounts(both=both, b=b, c=c, neither=len(table) - both - b - c)
    test = mcnemar_exact(counts)
    return PairwiseMcNemar(
        pairs=np.column_stack([first, second]),
        counts=counts,
        test=test,
        adjusted=adjust_p(test.p_value, method="holm"),
    )
