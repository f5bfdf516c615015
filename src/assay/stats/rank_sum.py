"""Scores of two groups of different items, compared by their ranks."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats.result import Test
from assay.stats.sides import Alternative, check_alternative, p_of_sides

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: The exact rank-sum distribution is counted up to this many values of both groups, times
#: values of the smaller: a few hundredths of a second.
_EXACT_SIZE = 5000


def mann_whitney(x: ArrayLike, y: ArrayLike, *, alternative: Alternative = "two-sided") -> Test:
    """Test whether scores of one group tend to be larger than those of another.

    Parameters
    ----------
    x, y : array_like of float, shape (value,)
        Of different items. Equal scores are ties.
    alternative : {"two-sided", "greater", "less"}
        As in scipy, "greater": `x` tends to be larger than `y`.

    Returns
    -------
    Test
        `statistic` is the area under the ROC curve, P(x > y) + P(x = y) / 2. The p-value is exact,
        ties included, as long as the number of values times the size of the smaller group is at
        most 5,000; then normal with corrections for ties and continuity, and `attainable_p` is
        NaN. NaN, with a RuntimeWarning, where a group is empty.

    Raises
    ------
    AnalysisError
        If a score is NaN, or the alternative is unknown.

    References
    ----------
    Mann & Whitney (1947), Annals of Mathematical Statistics 18:50-60.

    Examples
    --------
    >>> result = mann_whitney([3, 4, 5, 6], [1, 2, 2, 3])
    >>> result.statistic, round(result.p_value, 4)
    (0.96875, 0.0571)
    """
    check_alternative(alternative)
    first, second = np.asarray(x, float), np.asarray(y, float)
    if first.ndim != 1 or second.ndim != 1 or np.isnan([*first, *second]).any():
        raise AnalysisError("Mann-Whitney compares two complete lists of scores.")
    area, p_value, attainable, kind = math.nan, math.nan, math.nan, "exact"
    sizes = first.size, second.size
    if not min(sizes):
        message = "a group is empty: the comparison is undefined"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    elif min(sizes) * sum(sizes) <= _EXACT_SIZE:
        area, p_value, attainable = _exact_rank_sum(first, second, alternative)
    else:
        found = stats.mannwhitneyu(first, second, alternative=alternative, method="asymptotic")
        area, p_value, kind = (
            float(found.statistic) / math.prod(sizes),
            float(found.pvalue),
            "normal",
        )
    return Test(
        statistic=area,
        p_value=p_value,
        attainable_p=attainable,
        n=sum(sizes),
        method=f"Mann-Whitney, {kind}, {alternative}",
        reference="Mann & Whitney (1947), Annals of Mathematical Statistics 18:50-60",
    )


def _exact_rank_sum(
    first: _Floats, second: _Floats, alternative: Alternative
) -> tuple[float, float, float]:
    # Twice the midranks are whole numbers.
    ranks = np.rint(2 * stats.rankdata([*first, *second])).astype(np.int64)
    swapped = first.size > second.size
    chosen = ranks[first.size :] if swapped else ranks[: first.size]
    share = _subset_sums(ranks, chosen.size)
    share /= share.sum()
    at_least, at_most = share[chosen.sum() :].sum(), share[: chosen.sum() + 1].sum()
    ends = share[np.flatnonzero(share)[[-1, 0]]]
    greater, less = (at_most, at_least) if swapped else (at_least, at_most)
    most_greater, most_less = ends[::-1] if swapped else ends
    u = ranks[: first.size].sum() / 2 - first.size * (first.size + 1) / 2
    return (
        float(u / (first.size * second.size)),
        p_of_sides(greater, less, alternative),
        p_of_sides(most_greater, most_less, alternative),
    )


def _subset_sums(ranks: _Ints, size: int) -> _Floats:
    """Return, for each sum of `size` ranks, the number of subsets that have it."""
    most = int(np.sort(ranks)[ranks.size - size :].sum())
    ways = np.zeros((size + 1, most + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : most + 1 - rank].copy()
    found: _Floats = ways[size]
    return found
