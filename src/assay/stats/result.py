"""Frozen results: a number never travels without its interval, size, method and source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

#: One number, or an array of them where the input was an array.
Real: TypeAlias = float | NDArray[np.float64]
Count: TypeAlias = int | NDArray[np.int64]


def unwrap(values: NDArray[np.float64]) -> Real:
    """Return a 0-d array as a float, any other array as it is."""
    return float(values) if values.ndim == 0 else values


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    estimate, low, high : float or ndarray
        NaN where the data are degenerate.
    level : float
        Confidence level, two-sided.
    n : int or ndarray
        Number of items that the estimate rests on.
    method, reference : str
        How it was computed, and the paper to cite.
    """

    estimate: Real
    low: Real
    high: Real
    level: float
    n: Count
    method: str
    reference: str


@dataclass(frozen=True, slots=True)
class Test:
    """A test of one hypothesis.

    Attributes
    ----------
    statistic, p_value : float or ndarray
    attainable_p : float or ndarray
        The smallest p-value that data of this size could have given; NaN where the test is not
        discrete.
    n : int or ndarray
        Number of items.
    method, reference : str
        How it was computed, and the paper to cite.
    """

    statistic: Real
    p_value: Real
    attainable_p: Real
    n: Count
    method: str
    reference: str
