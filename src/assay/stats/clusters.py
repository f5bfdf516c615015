"""The mean of paired differences whose items come in clusters, however few those are."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from assay.core.errors import AnalysisError
from assay.stats.paired import Alternative
from assay.stats.result import Interval

#: Fewer clusters than this never decide anything: two-sided sign flips cannot reach .05.
FEWEST_CLUSTERS = 6
#: From this many clusters on, Student's t on the cluster sums keeps its level.
MANY_CLUSTERS = 20

_Floats = NDArray[np.float64]
_REFERENCE = {
    "too few clusters": "Cameron & Miller (2015), Journal of Human Resources 50:317-372",
    "exact cluster sign flips": "Hartigan (1969), JASA 64:1303-1317; Canay, Romano & Shaikh "
    "(2017), Econometrica 85:1013-1030",
    "t on cluster sums": "Miller (2024), arXiv:2411.00640; jackknife form: MacKinnon, Nielsen & "
    "Webb (2023), Journal of Econometrics 232:272-299",
}


@dataclass(frozen=True, slots=True)
class ClusteredTest:
    """A mean difference, its interval and its test, with clusters as the units of evidence.

    Attributes
    ----------
    interval : Interval
        Two-sided, of the mean over items; its `n` counts items.
    statistic : float
        Student's t, or the sum of the differences where signs are flipped.
    p_value : float
        NaN where there are too few clusters to decide: the hypothesis counts as not tested.
    attainable_p : float
        The smallest p-value that clusters of these sums, each of any sign, could have given.
    groups : int
        Number of clusters.
    alternative, method, reference : str
    """

    interval: Interval
    statistic: float
    p_value: float
    attainable_p: float
    groups: int
    alternative: Alternative
    method: str
    reference: str

    @property
    def agrees(self) -> bool:
        """Whether the interval excludes zero exactly where the test rejects.

        A one-sided test is compared at half of ``1 - level``.
        """
        level = 1 - self.interval.level
        above, below = self.interval.low > 0, self.interval.high < 0
        if self.alternative == "two-sided":
            return bool((self.p_value <= level) == (above or below))
        return bool(
            (self.p_value <= level / 2) == (above if self.alternative == "greater" else below)
        )


def clustered_difference(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> ClusteredTest:
    """Test whether paired differences have mean zero, when items of one cluster go together.

    Parameters
    ----------
    differences : array_like of float, shape (item,)
        B's score minus A's, on the same item.
    clusters : array_like, shape (item,), optional
        A label an item: the passage, the template, the group of duplicates. Without it every
        item is a cluster of its own.
    level : float
        Two-sided confidence level of the interval.
    alternative : {"two-sided", "greater", "less"}
        "greater": the mean difference is positive.

    Returns
    -------
    ClusteredTest
        With fewer than six clusters p-value and interval are NaN, with a RuntimeWarning, whatever
        the data. With fewer than 20 all sign flips of the cluster sums are enumerated, and the
        interval inverts that test. Else Student's t with as many degrees of freedom as clusters
        less one; its p-value is never below what sign flips of the clusters that differ could
        attain. The interval is NaN, with a RuntimeWarning, where clusters have no spread.

    Raises
    ------
    AnalysisError
        If a difference is not finite, an item has no cluster, or an option is out of range.

    Notes
    -----
    The standard error is Miller's clustered one in its jackknife form: the same number where
    clusters have equal sizes, wider where one holds many of the items. Sign flips assume that a
    cluster's sum is as likely to be of either sign; the set of means that they do not reject is
    bounded by two order statistics of the means of all unions of clusters.

    NaN rather than 1 below six clusters, because nothing was tested: a correction for many
    hypotheses does not count it, and any comparison with alpha is false.

    Examples
    --------
    >>> result = clustered_difference([1, 1, 0, 1, 1, 1, 1, 1], [0, 0, 1, 2, 3, 4, 5, 6])
    >>> result.groups, result.p_value
    (7, 0.03125)
    """
    _validate(level, alternative)
    sums, sizes = cluster_sums(differences, clusters)
    groups = len(sums)
    slack = 1e-9 * float(np.abs(sums).sum())
    sums = np.where(np.abs(sums) <= slack, 0.0, sums)
    # Each cluster that differs halves the smallest share of sign flips.
    floor = math.ldexp(1.0, -int(np.count_nonzero(sums)))
    if groups < FEWEST_CLUSTERS:
        method, found = "too few clusters", _untested(groups)
    elif groups < MANY_CLUSTERS:
        method, found = "exact cluster sign flips", _sign_flips(sums, sizes, slack, level)
    else:
        method, found = "t on cluster sums", _student(sums, sizes, floor, level)
    statistic, greater, less, low, high = found
    n = int(sizes.sum())
    estimate = float(sums.sum() / n) if n else math.nan
    reference = _REFERENCE[method]
    return ClusteredTest(
        interval=Interval(estimate, low, high, level, n, method, reference),
        statistic=statistic,
        p_value=_p_value(greater, less, alternative),
        attainable_p=min(1.0, floor * (2 if alternative == "two-sided" else 1)),
        groups=groups,
        alternative=alternative,
        method=method,
        reference=reference,
    )


def cluster_sums(
    differences: ArrayLike, clusters: ArrayLike | None
) -> tuple[_Floats, NDArray[np.intp]]:
    """Return each cluster's sum of differences and its number of items, in order of appearance.

    Parameters
    ----------
    differences, clusters : array_like, shape (item,)
        As in `clustered_difference`.
    """
    values = np.asarray(differences, float)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise AnalysisError(
            "paired differences form one list of finite numbers.", fix="drop missing items first."
        )
    if clusters is None:
        return values, np.ones(values.size, np.intp)
    given = np.asarray(clusters)
    if given.shape != values.shape:
        raise AnalysisError(f"{given.size} cluster labels do not fit {values.size} differences.")
    labels = pd.factorize(given)[0]
    if np.any(labels < 0):
        raise AnalysisError(
            "an item has no cluster.", fix="give an item that stands alone a label of its own."
        )
    return np.bincount(labels, values), np.bincount(labels)


def _validate(level: float, alternative: str) -> None:
    if alternative not in ("two-sided", "greater", "less"):
        raise AnalysisError(f"unknown alternative '{alternative}'.")
    if not 0 < level < 1:
        raise AnalysisError(f"a confidence level lies between 0 and 1, not {level}.")


def _p_value(greater: float, less: float, alternative: Alternative) -> float:
    if alternative == "two-sided":
        return float(np.minimum(1.0, 2 * np.minimum(greater, less)))
    return greater if alternative == "greater" else less


#: statistic, p-value of "greater", p-value of "less", low, high
_Found = tuple[float, float, float, float, float]


def _untested(groups: int) -> _Found:
    _warn(f"{groups} clusters are too few to decide anything: {FEWEST_CLUSTERS} are needed")
    return (math.nan,) * 5


def _sign_flips(sums: _Floats, sizes: NDArray[np.intp], slack: float, level: float) -> _Found:
    # Flipping the clusters of a union leaves the total at least as large exactly where the
    # union's own sum is not positive. The first union is the empty one.
    unions = _union_sums(sums)
    unions[np.abs(unions) <= slack] = 0.0
    greater, less = float(np.mean(unions <= 0)), float(np.mean(unions >= 0))
    place = math.floor((1 - level) / 2 * unions.size + 1e-9) - 1
    if place < 0:
        _warn(f"{sums.size} clusters are too few for an interval at level {level}")
        return float(sums.sum()), greater, less, math.nan, math.nan
    means = unions[1:] / _union_sums(sizes)[1:]
    last = means.size - 1 - place
    means.partition([place, last])
    return float(sums.sum()), greater, less, float(means[place]), float(means[last])


def _union_sums(values: NDArray[np.float64] | NDArray[np.intp]) -> _Floats:
    total = np.zeros(1)
    for value in values:
        total = np.concatenate([total, total + value])
    return total


def _student(sums: _Floats, sizes: NDArray[np.intp], floor: float, level: float) -> _Found:
    groups, n = sums.size, sizes.sum()
    estimate = float(sums.sum() / n)
    left_out = (sums - estimate * sizes) / (n - sizes)
    error = math.sqrt((groups - 1) / groups * float(left_out @ left_out))
    if error <= 1e-12 * float(np.abs(sums).max()) / n:
        _warn("clusters have no spread: the interval is undefined")
        greater, less = (floor if side * estimate > 0 else 1.0 for side in (1, -1))
        return math.nan, greater, less, math.nan, math.nan
    t = estimate / error
    greater, less = (max(floor, float(special.stdtr(groups - 1, side * t))) for side in (-1, 1))
    reach = float(special.stdtrit(groups - 1, (1 + level) / 2)) * error
    return t, greater, less, estimate - reach, estimate + reach


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
