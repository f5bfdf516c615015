"""Corrections for testing a declared family of hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from statsmodels.stats.multitest import multipletests

from assay.core.errors import AnalysisError

Correction = Literal["by", "bh", "holm"]

_STATSMODELS_NAME = {"by": "fdr_by", "bh": "fdr_bh", "holm": "holm"}
_REFERENCE = {
    "by": "Benjamini & Yekutieli (2001), Annals of Statistics 29:1165-1188",
    "bh": "Benjamini & Hochberg (1995), JRSS B 57:289-300",
    "holm": "Holm (1979), Scandinavian Journal of Statistics 6:65-70",
}


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
    if known.any():
        adjusted[known] = multipletests(values[known], method=_STATSMODELS_NAME[method])[1]
    return Adjusted(
        p_values=adjusted,
        family=int(known.sum()),
        controls="family-wise error rate" if method == "holm" else "false discovery rate",
        method=method,
        reference=_REFERENCE[method],
    )


def strictest_level(alpha: float, family: int, *, method: Correction = "by") -> float:
    """Return the unadjusted p-value that suffices whatever the other hypotheses show.

    The first step of the correction: alpha / m, and for BY a further factor 1 + 1/2 + ... + 1/m.
    """
    if family < 1:
        return alpha
    harmonic = float(np.sum(1 / np.arange(1, family + 1))) if method == "by" else 1.0
    return alpha / (family * harmonic)


def _validate(p_values: ArrayLike, method: str) -> NDArray[np.float64]:
    if method not in _STATSMODELS_NAME:
        known = ", ".join(_STATSMODELS_NAME)
        raise AnalysisError(f"unknown correction '{method}'.", fix=f"choose one of {known}.")
    values = np.asarray(p_values, float)
    if values.ndim != 1 or np.any((values < 0) | (values > 1)):
        raise AnalysisError("p-values form one list of numbers between 0 and 1.")
    return values
