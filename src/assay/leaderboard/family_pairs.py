"""Pairs of models family by family: who is better everywhere, and where the order flips."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.families import Families, cluster_count, families
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count
from assay.stats.clusters import FEWEST_CLUSTERS, ClusteredTest, clustered_difference
from assay.stats.multiplicity import adjust_p, holm

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FamilyPairs(Finding):
    """Every pair of models in every family.

    `first` is the model of a pair with the higher mean over families on the pair's own items.

    Attributes
    ----------
    families : tuple of str
    first, second : tuple of str, length pair
    items : ndarray of int, shape (pair,)
        Observed for both under every offered configuration.
    gap, low, high : ndarray of float, shape (pair, family)
        The first model's lead as a share of items, with its clustered interval.
    p_first, p_second : ndarray of float, shape (pair, family)
        One-sided p-values that the first, or the second, model is better in the family.
    everywhere_p : ndarray of float, shape (pair,)
        Twice the largest one-sided p-value in the better direction: at most alpha exactly where
        every family is significant at alpha / 2, without a correction over families
        (intersection-union).
    flip_p : ndarray of float, shape (pair,)
        At most alpha exactly where both directions are significant in some family after Holm's
        correction over families and directions.
    everywhere_adjusted, flip_adjusted : ndarray of float, shape (pair,)
        Over all pairs (Benjamini-Yekutieli).
    alpha : float
    """

    name: ClassVar[str] = "family_pairs"
    families: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    items: NDArray[np.int64]
    gap: Floats
    low: Floats
    high: Floats
    p_first: Floats
    p_second: Floats
    everywhere_p: Floats
    flip_p: Floats
    everywhere_adjusted: Floats
    flip_adjusted: Floats
    alpha: float

    @property
    def verdict(self) -> tuple[str, ...]:
        """For each pair by itself "better everywhere", "order flips" or "unresolved"."""
        names = np.where(self.everywhere_p <= self.alpha, "better everywhere", "unresolved")
        return tuple(np.where(self.flip_p <= self.alpha, "order flips", names).tolist())

    @property
    def reading(self) -> str:
        """How many pairs keep their order in every family, and how many reverse it."""
        pairs = len(self.first)
        tested = ~np.isnan(self.everywhere_p)
        if not tested.any():
            why = "there is one model" if not pairs else "too few independent items were observed"
            return f"Whether the order of models depends on the family is unknown: {why}."
        everywhere, flips = (
            (int(np.sum(p <= self.alpha)), int(np.sum(adjusted <= self.alpha)))
            for p, adjusted in (
                (self.everywhere_p, self.everywhere_adjusted),
                (self.flip_p, self.flip_adjusted),
            )
        )
        return (
            f"In {everywhere[0]} of {count(pairs, 'pair')} one model is better in every one of "
            f"{count(len(self.families), 'family', 'families')} (one-sided p at most "
            f"{self.alpha / 2:g} in each; {everywhere[1]} after correction over all pairs), and "
            f"in {flips[0]} the order flips between families (both directions significant; "
            f"{flips[1]} after correction), on {_items(self.items[tested])}."
        )


def _items(items: NDArray[np.int64]) -> str:
    low, high = int(items.min()), int(items.max())
    return count(low, "item") if low == high else f"{low:,} to {count(high, 'item')}"


def family_pairs(correctness: Correctness, scope: Scope, *, alpha: float = 0.05) -> FamilyPairs:
    """Compare every pair of models in every family.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    alpha : float
        Error rate of each verdict on a pair; "better everywhere" asks half of it of every family
        and direction.

    Returns
    -------
    FamilyPairs
        NaN for pairs with fewer than six independent clusters of common items.

    Raises
    ------
    AnalysisError
        If alpha is out of range.

    References
    ----------
    Berger (1982), Technometrics 24:295-300 (intersection-union tests); Holm (1979), Scandinavian
    Journal of Statistics 6:65-70; Gail & Simon (1985), Biometrics 41:361-372 (crossing orders).
    """
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
    found = families(correctness, scope)
    pairs = [
        _compare(found, a, b, 1 - alpha)
        for a in range(found.models.size)
        for b in range(a + 1, found.models.size)
    ]
    shape = (len(pairs), len(found.names))
    p_first = np.array([pair.p_first for pair in pairs], float).reshape(shape)
    p_second = np.array([pair.p_second for pair in pairs], float).reshape(shape)
    everywhere, flip = _verdicts(p_first, p_second)
    bounds = np.array([pair.bounds for pair in pairs], float).reshape(len(pairs), 3, shape[1])
    names = [correctness.models[k] for k in found.models]
    return FamilyPairs(
        benchmark=scope.benchmark,
        families=found.names,
        first=tuple(names[pair.first] for pair in pairs),
        second=tuple(names[pair.second] for pair in pairs),
        items=np.array([pair.items for pair in pairs], np.int64),
        gap=bounds[:, 0],
        low=bounds[:, 1],
        high=bounds[:, 2],
        p_first=p_first,
        p_second=p_second,
        everywhere_p=everywhere,
        flip_p=flip,
        everywhere_adjusted=adjust_p(everywhere).p_values,
        flip_adjusted=adjust_p(flip).p_values,
        alpha=alpha,
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """One pair; `bounds` holds estimate, low and high of each family."""

    first: int
    second: int
    items: int
    bounds: Floats
    p_first: Floats
    p_second: Floats


def _compare(found: Families, a: int, b: int, level: float) -> _Pair:
    common = found.complete[a] & found.complete[b]
    lead, clusters = found.shares(a, common) - found.shares(b, common), found.clusters[common]
    if lead.sum() < 0:
        a, b, lead = b, a, -lead
    size = len(found.names)
    if cluster_count(clusters) < FEWEST_CLUSTERS:
        unknown = np.full(size, np.nan)
        gap = lead.mean(axis=0) if len(lead) else unknown
        bounds = np.stack([gap, unknown, unknown])
        return _Pair(a, b, len(lead), bounds, unknown, unknown)
    tests = [_tested(column, clusters, level) for column in lead.T]
    gap, low, high, p_value = (
        np.array(values)
        for values in zip(
            *((t.interval.estimate, t.interval.low, t.interval.high, t.p_value) for t in tests),
            strict=True,
        )
    )
    # The direction that the data contradict has a p-value above one half: it decides nothing.
    with_data, against = p_value / 2, 1 - p_value / 2
    ahead = gap > 0
    return _Pair(
        a,
        b,
        len(lead),
        np.stack([gap, low, high]),
        np.where(ahead, with_data, against),
        np.where(ahead, against, with_data),
    )


def _tested(lead: Floats, clusters: NDArray[np.intp], level: float) -> ClusteredTest:
    with warnings.catch_warnings():
        # Two models that agree on every item have no interval: the NaN says so.
        warnings.simplefilter("ignore", RuntimeWarning)
        return clustered_difference(lead, clusters, level=level)


def _verdicts(p_first: Floats, p_second: Floats) -> tuple[Floats, Floats]:
    """Return the p-values of "better everywhere" and "the order flips", shape (pair,)."""
    worst = np.minimum(p_first.max(axis=1, initial=0), p_second.max(axis=1, initial=0))
    adjusted = holm(np.hstack([p_first, p_second]))
    ahead, behind = np.split(adjusted, 2, axis=1)
    flips = np.maximum(ahead.min(axis=1, initial=1), behind.min(axis=1, initial=1))
    return np.minimum(1.0, 2 * worst), flips


def family_pair_table(found: FamilyPairs) -> pd.DataFrame:
    """Return one row for each pair and family.

    Columns: benchmark, first, second, family, verdict (text; the verdict is the pair's), n
    (whole), gap, low, high, p_first, p_second, everywhere_p, everywhere_adjusted, flip_p,
    flip_adjusted (real).
    """
    p, f = (axis.ravel() for axis in np.indices(found.gap.shape))
    return pd.DataFrame(
        {
            "benchmark": found.benchmark,
            "first": np.array(found.first, object)[p],
            "second": np.array(found.second, object)[p],
            "family": np.array(found.families, object)[f],
            "n": found.items[p],
            "gap": found.gap[p, f],
            "low": found.low[p, f],
            "high": found.high[p, f],
            "p_first": found.p_first[p, f],
            "p_second": found.p_second[p, f],
            "everywhere_p": found.everywhere_p[p],
            "everywhere_adjusted": found.everywhere_adjusted[p],
            "flip_p": found.flip_p[p],
            "flip_adjusted": found.flip_adjusted[p],
            "verdict": np.array(found.verdict, object)[p],
        }
    )
