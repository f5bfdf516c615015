"""Repeated attempts at one task: solved by at least one of k, or by all k."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import AnalysisError
from assay.stats.result import Real, unwrap

_Ints = NDArray[np.int64]


def pass_at_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> Real:
    """Return the unbiased estimate of the chance that at least one of `k` attempts succeeds.

    Parameters
    ----------
    n : array_like of int
        Attempts that were made at the task.
    c : array_like of int
        Attempts that succeeded.
    k : array_like of int
        Attempts that are allowed. The three broadcast against each other.

    Returns
    -------
    float or ndarray
        ``1 - C(n - c, k) / C(n, k)``. NaN, with a RuntimeWarning, where fewer than `k` attempts
        were made: then there is no unbiased estimate. The score of a benchmark is the mean over
        its tasks.

    Raises
    ------
    AnalysisError
        If counts are negative or not whole, ``c > n``, or ``k < 1``.

    Notes
    -----
    ``1 - (1 - c / n) ** k`` is biased: at n = 5 and a chance of .2 it gives .52 for k = 5, on
    average, where .67 is right.

    References
    ----------
    Chen et al. (2021), "Evaluating large language models trained on code", arXiv:2107.03374.

    Examples
    --------
    >>> pass_at_k(10, 3, [1, 5]).round(4).tolist()
    [0.3, 0.9167]
    """
    attempts, successes, allowed = _validate(n, c, k)
    none = _share(attempts, attempts - successes, allowed)
    return unwrap(1 - none)


def pass_hat_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> Real:
    """Return the unbiased estimate of the chance that all of `k` attempts succeed.

    Parameters
    ----------
    n, c, k : array_like of int
        As in `pass_at_k`.

    Returns
    -------
    float or ndarray
        ``C(c, k) / C(n, k)``; NaN, with a RuntimeWarning, where fewer than `k` attempts were
        made.

    Raises
    ------
    AnalysisError
        As in `pass_at_k`.

    References
    ----------
    Yao et al. (2024), "tau-bench", arXiv:2406.12045.

    Examples
    --------
    >>> pass_hat_k(4, 3, [1, 2, 4]).tolist()
    [0.75, 0.5, 0.0]
    """
    attempts, successes, allowed = _validate(n, c, k)
    return unwrap(_share(attempts, successes, allowed))


def _share(n: _Ints, m: _Ints, k: _Ints) -> NDArray[np.float64]:
    """Return C(m, k) / C(n, k) as a product, which neither overflows nor cancels."""
    share = np.ones(n.shape)
    for i in range(int(k.max(initial=0))):
        factor = np.maximum(m - i, 0) / np.maximum(n - i, 1)
        share = np.where(i < k, share * factor, share)
    return np.where(k <= n, share, np.nan)


def _validate(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> tuple[_Ints, _Ints, _Ints]:
    attempts, successes, allowed = np.broadcast_arrays(*(np.asarray(x) for x in (n, c, k)))
    whole = all(np.array_equal(x, np.floor(x)) for x in (attempts, successes, allowed))
    if not whole or np.any(successes < 0) or np.any(successes > attempts):
        raise AnalysisError("attempts are whole numbers with 0 <= successes <= attempts.")
    if np.any(allowed < 1):
        raise AnalysisError("pass@k and pass^k need k of at least 1.")
    if np.any(allowed > attempts):
        warnings.warn(
            "fewer than k attempts: no unbiased estimate of k attempts exists",
            RuntimeWarning,
            stacklevel=3,
        )
    return attempts.astype(np.int64), successes.astype(np.int64), allowed.astype(np.int64)
