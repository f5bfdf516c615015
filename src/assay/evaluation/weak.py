"""Which capabilities are below expectation: a test on tasks, each capability's by itself."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from assay.evaluation.table import Floats, Ints
from assay.stats import clustered_difference
from assay.stats.clusters import FEWEST_CLUSTERS
from assay.stats.multiplicity import holm

#: Below this expectation a sum of rare successes is skewed towards a false alarm.
_SKEWED = 0.5
_SINGLE = "exact binomial on tasks, one attempt each"
_CASES = "exact binomial on the tasks' mean rates, each task one case"


@dataclass(frozen=True, slots=True)
class Weakness:
    """A one-sided test that a success rate is at its expectation or above.

    Attributes
    ----------
    p_value, attainable_p : float
        NaN where there is no task.
    tasks : int
    method : str
    """

    p_value: float
    attainable_p: float
    tasks: int
    method: str


def weakness(successes: ArrayLike, attempts: ArrayLike, expected: ArrayLike) -> Weakness:
    """Test whether the success rate of a capability is below what is expected of its tasks.

    Parameters
    ----------
    successes, attempts : array_like of int, shape (task,)
        Of each task's judged attempts, at least one.
    expected : array_like of float, shape (task,)
        Expected success rate of each task.

    Returns
    -------
    Weakness
        With one attempt a task: exact binomial at the mean expectation, which is conservative
        where expectations or true rates differ between tasks (Hoeffding 1956, Annals of
        Mathematical Statistics 27:713-721). With several, from six tasks and an expectation of
        one half on: the task-clustered test of `assay.stats`. Else each task's mean rate is one
        case, and part of a success counts as a whole one: means vary less than single attempts.

    Examples
    --------
    >>> round(weakness([0, 0, 1], [1, 1, 1], [0.8, 0.8, 0.8]).p_value, 3)
    0.104
    """
    hits, n = np.asarray(successes, np.int64), np.asarray(attempts, np.int64)
    rate = np.asarray(expected, float)
    if not n.size:
        return Weakness(math.nan, math.nan, 0, "no task")
    mean = float(np.average(rate, weights=n))
    if n.max() > 1 and n.size >= FEWEST_CLUSTERS and mean >= _SKEWED:
        return _clustered(hits, n, rate)
    cases = math.ceil(float((hits / n).sum()) - 1e-9)
    level = float(rate.mean())
    return Weakness(
        p_value=float(special.bdtr(cases, n.size, level)),
        attainable_p=float(special.bdtr(0, n.size, level)),
        tasks=int(n.size),
        method=_SINGLE if n.max() == 1 else _CASES,
    )


def _clustered(hits: Ints, n: Ints, rate: Floats) -> Weakness:
    task = np.repeat(np.arange(n.size), n)
    place = np.arange(task.size) - np.repeat(np.cumsum(n) - n, n)
    outcome = (place < hits[task]) - rate[task]
    with warnings.catch_warnings():
        # Clusters without spread have no interval; the test stands.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = clustered_difference(outcome, task, alternative="less")
    return Weakness(found.p_value, found.attainable_p, found.groups, found.method)


def adjusted(tests: list[Weakness]) -> Floats:
    """Return Holm's adjusted p-values of one suite's capabilities; NaN was not tested."""
    return np.asarray(holm(np.array([[test.p_value for test in tests]]))[0], float)
