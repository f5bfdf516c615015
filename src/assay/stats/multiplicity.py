"""Corrections for testing a declared family of hypotheses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from assay.core.errors import AnalysisError

Correction = Literal["by", "bh", "holm"]

_REFERENCE = {
    "by": "Benjamini & Yekutieli (2001), Annals of Statistics 29:1165-1188",
    "bh": "Benjamini & Hochberg (1995), JRSS B 57:289-300",
    "holm": "Holm (1979), Scandinavian Journal of Statistics 6:65-70",
}
_EBH_REFERENCE = "Wang & Ramdas (2022), JRSS B 84:822-852"


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Adjusted p-values of one family.

    Attributes
    ----------
    p_values : ndarray of float
        In the order given; NaN where the p-value was NaN.
    family : int
        Number of hypotheses that were corrected for.
    controls : str
        The error rate that stays at or below alpha.
    method, reference : str
    """

    p_values: NDArray[np.float64]
    family: int
    controls: str
    method: str
    reference: str


def adjust_p(p_values: ArrayLike, *, method: Correction = "by") -> Adjusted:
    """Adjust the p-values of one family of hypotheses, declared beforehand.

    Parameters
    ----------
    p_values : array_like of float, shape (hypothesis,)
        NaN marks a hypothesis that could not be tested: it stays NaN and is not counted.
    method : {"by", "bh", "holm"}
        BY controls the false discovery rate under any dependence (pairs of one leaderboard share
        models), BH under independence or positive dependence, Holm the family-wise error.

    Returns
    -------
    Adjusted

    Raises
    ------
    AnalysisError
        If a p-value is outside [0, 1] or the method is unknown.

    Examples
    --------
    >>> adjust_p([0.01, 0.04], method="holm").p_values
    array([0.02, 0.04])
    """
    values = _validate(p_values, method)
    known = ~np.isnan(values)
    adjusted = np.full(values.shape, np.nan)
    if method == "holm":
        adjusted = holm(values[None])[0]
    elif known.any():
        adjusted[known] = stats.false_discovery_control(values[known], method=method)
    return Adjusted(
        p_values=adjusted,
        family=int(known.sum()),
        controls="family-wise error rate" if method == "holm" else "false discovery rate",
        method=method,
        reference=_REFERENCE[method],
    )


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values of each row, a family of its own.

    Parameters
    ----------
    p_values : ndarray of float, shape (family, hypothesis)
        NaN marks a hypothesis that could not be tested: it stays NaN and is not counted.

    Returns
    -------
    ndarray of float, same shape

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6:65-70.

    Examples
    --------
    >>> holm(np.array([[0.01, 0.04, 0.03], [0.5, np.nan, 0.2]])).tolist()
    [[0.03, 0.06, 0.06], [0.5, nan, 0.4]]
    """
    tested = np.sum(~np.isnan(p_values), axis=1, keepdims=True)
    places = np.argsort(p_values, axis=1)  # NaN comes last
    left = np.maximum(tested - np.arange(p_values.shape[1]), 1)
    steps = np.take_along_axis(p_values, places, axis=1) * left
    adjusted = np.empty(p_values.shape)
    np.put_along_axis(
        adjusted, places, np.minimum(1.0, np.maximum.accumulate(steps, axis=1)), axis=1
    )
    return adjusted


def strictest_level(alpha: float, family: int, *, method: Correction = "by") -> float:
    """Return the unadjusted p-value that suffices whatever the other hypotheses show.

    The first step of the correction: alpha / m, and for BY a further factor 1 + 1/2 + ... + 1/m.
    """
    if family < 1:
        return alpha
    harmonic = float(np.sum(1 / np.arange(1, family + 1))) if method == "by" else 1.0
    return alpha / (family * harmonic)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The hypotheses of one family that are rejected at a false discovery rate of alpha.

    Attributes
    ----------
    rejected : ndarray of bool, shape (hypothesis,)
        In the order given; False where the hypothesis could not be tested.
    levels : ndarray of float, shape (hypothesis,)
        The smallest alpha at which each is rejected; NaN where it could not be tested.
    family : int
        Number of hypotheses that were corrected for.
    alpha : float
    method, reference : str
    """

    rejected: NDArray[np.bool_]
    levels: NDArray[np.float64]
    family: int
    alpha: float
    method: str
    reference: str


def ebh(log_e: ArrayLike, *, alpha: float, running_maximum: bool = False) -> Rejected:
    """Reject hypotheses by their e-values, under any dependence and at any stopping time.

    Parameters
    ----------
    log_e : array_like of float, shape (hypothesis,)
        Natural logarithms of e-values, one a hypothesis. NaN marks a hypothesis that could not be
        tested: it is not counted.
    alpha : float
        Bound on the false discovery rate.
    running_maximum : bool
        Whether the e-values are the largest that a sequence has reached. Refused.

    Returns
    -------
    Rejected

    Raises
    ------
    AnalysisError
        If the e-values are no list, alpha is out of range, or they are running maxima.

    Notes
    -----
    The k largest are rejected, for the largest k at which each of them is at least m / (alpha k).
    The largest value that an e-process has reached is no e-value: its expectation under the null
    exceeds 1.

    Examples
    --------
    >>> ebh(np.log([100, 20, 2, 50]), alpha=0.05).rejected
    array([ True, False, False,  True])
    """
    _check_alpha(alpha)
    if running_maximum:
        raise AnalysisError(
            "the running maximum of an e-process is no e-value.",
            fix="give each sequence's value at the time when it was stopped.",
        )
    logs = np.asarray(log_e, float)
    if logs.ndim != 1 or np.any(np.isposinf(logs)):
        raise AnalysisError("e-values form one list of finite numbers, in logarithms.")
    known = ~np.isnan(logs)
    log_levels = np.full(logs.shape, np.nan)
    log_levels[known] = _ebh_log_levels(logs[known])
    return Rejected(
        # e = m / (alpha k) exactly is rejected, whatever rounding leaves of it.
        rejected=log_levels <= math.log(alpha) + 1e-12,
        levels=np.exp(np.minimum(log_levels, 0.0)),
        family=int(known.sum()),
        alpha=alpha,
        method="e-BH",
        reference=_EBH_REFERENCE,
    )


def _ebh_log_levels(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    largest_first = np.argsort(-logs, kind="stable")
    rank = np.arange(1, logs.size + 1)
    needed = np.log(logs.size / rank) - logs[largest_first]
    log_levels = np.empty_like(logs)
    log_levels[largest_first] = np.minimum.accumulate(needed[::-1])[::-1]
    return log_levels


def reject_jointly(
    p_values: ArrayLike,
    log_e: ArrayLike,
    *,
    alpha: float,
    share: float = 0.5,
    method: Literal["by", "bh"] = "by",
) -> tuple[Rejected, Rejected]:
    """Reject hypotheses of which some have p-values and others e-values, never both.

    Parameters
    ----------
    p_values, log_e : array_like of float, shape (hypothesis,)
        One statistic a hypothesis, chosen beforehand: the two lists are of different hypotheses.
    alpha : float
        Bound on the false discovery rate of all rejections together.
    share : float
        The part of alpha that the p-values spend, between 0 and 1, fixed beforehand.
    method : {"by", "bh"}
        Correction of the p-values.

    Returns
    -------
    tuple of Rejected
        Of the p-values and of the e-values, each at its part of alpha.

    Raises
    ------
    AnalysisError
        As `adjust_p` and `ebh`, and if the share is out of range.

    Notes
    -----
    False rejections over all rejections are at most the sum of the same two ratios, one for each
    list; hence the false discovery rate of the union is at most the sum of the two.

    Examples
    --------
    >>> by, ebh = reject_jointly([0.001, 0.3], np.log([50.0]), alpha=0.05)
    >>> by.rejected.tolist(), ebh.rejected.tolist()
    ([True, False], [True])
    """
    _check_alpha(alpha)
    if not 0 < share < 1:
        raise AnalysisError(f"a share of alpha lies between 0 and 1, not {share}.")
    if method not in ("by", "bh"):
        raise AnalysisError("a joint false discovery rate needs by or bh.")
    adjusted = adjust_p(p_values, method=method)
    of_p = Rejected(
        rejected=adjusted.p_values <= share * alpha,
        levels=adjusted.p_values,
        family=adjusted.family,
        alpha=share * alpha,
        method=method,
        reference=adjusted.reference,
    )
    return of_p, ebh(log_e, alpha=(1 - share) * alpha)


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise AnalysisError(f"alpha lies between 0 and 1, not {alpha}.")


def _validate(p_values: ArrayLike, method: str) -> NDArray[np.float64]:
    if method not in _REFERENCE:
        known = ", ".join(_REFERENCE)
        raise AnalysisError(f"unknown correction '{method}'.", fix=f"choose one of {known}.")
    values = np.asarray(p_values, float)
    if values.ndim != 1 or np.any((values < 0) | (values > 1)):
        raise AnalysisError("p-values form one list of numbers between 0 and 1.")
    return values
