"""One side or two: what every test says about its alternative in the same way."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from assay.core.errors import AnalysisError

Alternative = Literal["two-sided", "greater", "less"]


def check_alternative(alternative: str) -> None:
    """Refuse an alternative that is none.

    Raises
    ------
    AnalysisError
    """
    if alternative not in get_args(Alternative):
        raise AnalysisError(
            f"unknown alternative '{alternative}'.", fix="choose greater, less or two-sided."
        )


def p_of_sides(greater: float, less: float, alternative: Alternative) -> float:
    """Return the p-value of `alternative` from those of both sides; NaN stays NaN.

    The two-sided one is twice the smaller.
    """
    if alternative == "two-sided":
        return float(np.minimum(1.0, 2 * np.minimum(greater, less)))
    return float(greater if alternative == "greater" else less)
