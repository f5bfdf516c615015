"""Agreement of rankings."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats.result import Test


def kendall(x: ArrayLike, y: ArrayLike) -> Test:
    """Return Kendall's tau-b of two scorings of the same objects.

    Parameters
    ----------
    x, y : array_like of float, shape (object,)
        Scores; equal scores are ties.

    Returns
    -------
    Test
        `statistic` is tau-b in [-1, 1]. NaN, with a RuntimeWarning, where fewer than two objects
        are scored or one scoring gives every object the same.

    Raises
    ------
    AnalysisError
        If the shapes differ or a score is NaN.

    References
    ----------
    Kendall (1945), Biometrika 33:239-251 (correction for ties).

    Examples
    --------
    >>> round(kendall([1, 2, 3], [1, 3, 2]).statistic, 3)
    0.333
    """
    first, second = np.asarray(x, float), np.asarray(y, float)
    if first.ndim != 1 or first.shape != second.shape or np.isnan([*first, *second]).any():
        raise AnalysisError("Kendall's tau compares two complete lists of one length.")
    tau, p_value = np.nan, np.nan
    if _can_be_ranked(first) and _can_be_ranked(second):
        result = stats.kendalltau(first, second, variant="b")
        tau, p_value = float(result.statistic), float(result.pvalue)
    else:
        warnings.warn("tau-b is undefined: nothing to rank", RuntimeWarning, stacklevel=2)
    return Test(
        statistic=tau,
        p_value=p_value,
        attainable_p=np.nan,
        n=first.size,
        method="Kendall tau-b",
        reference="Kendall (1945), Biometrika 33:239-251",
    )


def kendall_matrix(scores: ArrayLike) -> NDArray[np.float64]:
    """Return Kendall's tau-b between all pairs of scorings of the same objects.

    Parameters
    ----------
    scores : array_like of float, shape (..., judge, object)
        Tables, one or a stack of them.

    Returns
    -------
    ndarray of float, shape (..., judge, judge)
        NaN where a scoring gives every object the same, or there are fewer than two objects.

    Notes
    -----
    tau-b is the cosine between the two vectors of signs of all differences: one matrix product,
    of whole numbers.

    Examples
    --------
    >>> kendall_matrix([[1, 2, 3], [1, 3, 2]]).round(3).tolist()
    [[1.0, 0.333], [0.333, 1.0]]
    """
    matrix = np.asarray(scores, float)
    if matrix.ndim < 2 or np.isnan(matrix).any():
        raise AnalysisError("tau needs a complete table of scores, one row a judge.")
    upper, lower = np.triu_indices(matrix.shape[-1], 1)
    signs = np.sign(matrix[..., upper] - matrix[..., lower])
    common = signs @ np.swapaxes(signs, -1, -2)
    told = np.diagonal(common, axis1=-2, axis2=-1)
    told = np.where(told > 0, told, np.nan)
    cosine = common / np.sqrt(told[..., :, None] * told[..., None, :])
    return np.asarray(np.clip(cosine, -1, 1), float)


def kendall_w(scores: ArrayLike) -> Test:
    """Return Kendall's coefficient of concordance W of several scorings, corrected for ties.

    Parameters
    ----------
    scores : array_like of float, shape (judge, object)
        Each row is one scoring of the same objects.

    Returns
    -------
    Test
        `statistic` is W in [0, 1]; `p_value` is the chi-square approximation of Friedman's
        test, of which W is a rescaling. NaN, with a RuntimeWarning, where there are fewer than
        two rows or objects, or no row tells any two objects apart.

    References
    ----------
    Kendall & Babington Smith (1939), Annals of Mathematical Statistics 10:275-287.

    Examples
    --------
    >>> kendall_w([[1, 2, 3], [10, 20, 30]]).statistic
    1.0
    """
    matrix = np.asarray(scores, float)
    if matrix.ndim != 2 or np.isnan(matrix).any():
        raise AnalysisError("W needs a complete table of scores, one row a judge.")
    w, p_value = np.nan, np.nan
    if matrix.shape[0] >= 2 and matrix.shape[1] >= 2 and any(_can_be_ranked(r) for r in matrix):
        w, p_value = _concordance(matrix)
    else:
        warnings.warn("W is undefined: nothing to rank", RuntimeWarning, stacklevel=2)
    return Test(
        statistic=w,
        p_value=p_value,
        attainable_p=np.nan,
        n=matrix.shape[-1],
        method="Kendall W with tie correction",
        reference="Kendall & Babington Smith (1939), Annals of Mathematical Statistics 10:275-287",
    )


def _concordance(matrix: NDArray[np.float64]) -> tuple[float, float]:
    judges, objects = matrix.shape
    ranks = stats.rankdata(matrix, axis=1)
    spread = np.sum((ranks.sum(axis=0) - judges * (objects + 1) / 2) ** 2)
    ties = sum(
        float(np.sum(counts**3 - counts))
        for counts in (np.unique(row, return_counts=True)[1] for row in ranks)
    )
    w = float(12 * spread / (judges**2 * (objects**3 - objects) - judges * ties))
    return w, float(stats.chi2.sf(judges * (objects - 1) * w, objects - 1))


def _can_be_ranked(scores: NDArray[np.float64]) -> bool:
    return scores.size >= 2 and bool(np.any(scores != scores[0]))
