"""Claims over time: each keeps its error rate, and none is revised afterwards."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import AnalysisError

_REFERENCE = "Xu & Ramdas (2024), AISTATS, PMLR 238:3997-4005 (e-LOND)"


def cycle_alpha(alpha: float, cycle: int) -> float:
    """Return the level at which cycle 1, 2, … tests, so that all cycles together spend alpha.

    Parameters
    ----------
    alpha : float
        Probability of any false claim, over however many cycles there will be.
    cycle : int
        From 1; each cycle tests on items that no earlier one has seen.

    Returns
    -------
    float
        6 alpha / (pi² cycle²): the levels of all cycles add up to alpha.

    Raises
    ------
    AnalysisError
        If the cycle is less than 1 or alpha is out of range.

    Notes
    -----
    The level depends on nothing but the cycle's number, so that a claim stands whatever later
    cycles find. Correcting each cycle by itself at alpha does not control anything over cycles.

    Examples
    --------
    >>> [round(cycle_alpha(0.05, cycle), 4) for cycle in (1, 2, 3)]
    [0.0304, 0.0076, 0.0034]
    """
    _check_alpha(alpha)
    if cycle < 1 or cycle != int(cycle):
        raise AnalysisError(f"cycles are counted from 1, not {cycle}.")
    return 6 * alpha / (math.pi * cycle) ** 2


@dataclass(frozen=True, slots=True)
class OnlineRejections:
    """Decisions on a sequence of hypotheses, each made before the next was known.

    Attributes
    ----------
    rejected : ndarray of bool, shape (hypothesis,)
    levels : ndarray of float, shape (hypothesis,)
        The level at which each was tested: rejected where the e-value is at least its inverse.
    next_level : float
        The level for the next hypothesis.
    alpha : float
        Bound on the false discovery rate, at any time.
    method, reference : str
    """

    rejected: NDArray[np.bool_]
    levels: NDArray[np.float64]
    next_level: float
    alpha: float
    method: str
    reference: str


def e_lond(log_e: ArrayLike, *, alpha: float) -> OnlineRejections:
    """Decide on hypotheses in the order in which they come, with a false discovery rate of alpha.

    Parameters
    ----------
    log_e : array_like of float, shape (hypothesis,)
        Natural logarithms of e-values, in the order of the tests, under any dependence. NaN marks
        a hypothesis that could not be tested: it keeps its place and is not rejected.
    alpha : float

    Returns
    -------
    OnlineRejections

    Raises
    ------
    AnalysisError
        If the e-values are no list or alpha is out of range.

    Notes
    -----
    Hypothesis t is tested at `cycle_alpha` (alpha, t) times one more than the rejections so far.
    A decision depends on earlier e-values only.

    Examples
    --------
    >>> e_lond(np.log([50, 40, 300]), alpha=0.05).rejected
    array([ True, False,  True])
    """
    _check_alpha(alpha)
    logs = np.asarray(log_e, float)
    if logs.ndim != 1:
        raise AnalysisError("e-values form one list, in the order of the tests.")
    levels, rejected = np.empty(logs.size), np.zeros(logs.size, bool)
    for place, value in enumerate(logs):
        levels[place] = cycle_alpha(alpha, place + 1) * (1 + rejected.sum())
        rejected[place] = value >= -math.log(levels[place])
    return OnlineRejections(
        rejected=rejected,
        levels=levels,
        next_level=cycle_alpha(alpha, logs.size + 1) * (1 + int(rejected.sum())),
        alpha=alpha,
        method="e-LOND",
        reference=_REFERENCE,
    )


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise AnalysisError(f"alpha lies between 0 and 1, not {alpha}.")
