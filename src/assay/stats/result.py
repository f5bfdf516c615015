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


@dataclass(frozen=True, slots=True)
class EValue:
    """Evidence against a hypothesis: under it, the expectation is at most 1.

    Attributes
    ----------
    log_e : float or ndarray
        Natural logarithm.
    attainable_log_e : float or ndarray
        The largest that data of this size could have given.
    n : int or ndarray
        Number of observations that bear on the hypothesis.
    method, reference : str
        How it was computed, and the paper to cite.
    """

    log_e: Real
    attainable_log_e: Real
    n: Count
    method: str
    reference: str

    @property
    def e(self) -> Real:
        """The e-value; infinite where it exceeds what a float holds."""
        with np.errstate(over="ignore"):
            return unwrap(np.exp(np.asarray(self.log_e, float)))

    @property
    def p_value(self) -> Real:
        """The bound min(1, 1/e): a valid p-value at any stopping time, not a sharp one."""
        return unwrap(np.exp(-np.maximum(self.log_e, 0.0)))
