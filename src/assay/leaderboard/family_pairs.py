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
from assay.stats.cluster_pairs import by_student, clustered_pairs
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
    pairs = _compared(found, 1 - alpha)
    everywhere, flip = _verdicts(pairs.p_first, pairs.p_second)
    names = [correctness.models[k] for k in found.models]
    return FamilyPairs(
        benchmark=scope.benchmark,
        families=found.names,
        first=tuple(names[k] for k in pairs.first),
        second=tuple(names[k] for k in pairs.second),
        items=pairs.items,
        gap=pairs.bounds[:, 0],
        low=pairs.bounds[:, 1],
        high=pairs.bounds[:, 2],
        p_first=pairs.p_first,
        p_second=pairs.p_second,
        everywhere_p=everywhere,
        flip_p=flip,
        everywhere_adjusted=adjust_p(everywhere).p_values,
        flip_adjusted=adjust_p(flip).p_values,
        alpha=alpha,
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """All pairs; `bounds`, shape (pair, 3, family), holds estimate, low and high."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    items: NDArray[np.int64]
    bounds: Floats
    p_first: Floats
    p_second: Floats


def _compared(found: Families, level: float) -> _Pairs:
    """Compare every pair, all at once where all models have the same items."""
    first, second = np.triu_indices(found.models.size, 1)
    bounds = np.full((first.size, 3, len(found.names)), np.nan)
    p_value = np.full((first.size, len(found.names)), np.nan)
    complete = found.complete.astype(np.float32)
    items = (complete @ complete.T)[first, second]
    lead = np.zeros(first.size, np.int64)
    same = found.complete.all(axis=0)
    if (found.complete == same).all() and by_student(found.clusters[same]):
        hits = found.hits[:, same]
        total = (hits.sum(axis=1, dtype=np.int64) * found.units).sum(axis=1)
        lead = total[first] - total[second]
        ahead, behind = np.where(lead < 0, (second, first), (first, second))
        for f, size in enumerate(found.sizes):
            tests = clustered_pairs(hits[:, :, f], found.clusters[same], ahead, behind, level=level)
            bounds[:, :, f] = np.stack([tests.estimate, tests.low, tests.high], axis=1) / size
            p_value[:, f] = tests.p_value
    else:
        for k, (a, b) in enumerate(zip(first, second, strict=True)):
            lead[k], bounds[k], p_value[k] = _compare(found, int(a), int(b), level)
    ahead, behind = np.where(lead < 0, (second, first), (first, second))
    # The direction that the data contradict has a p-value above one half: it decides nothing.
    with_data, against = p_value / 2, 1 - p_value / 2
    leads = bounds[:, 0] > 0
    return _Pairs(
        ahead,
        behind,
        items.astype(np.int64),
        bounds,
        np.where(leads, with_data, against),
        np.where(leads, against, with_data),
    )


def _compare(found: Families, a: int, b: int, level: float) -> tuple[int, Floats, Floats]:
    """Return whose lead it is (negative: of `b`), and bounds and p-values in its direction."""
    common = found.complete[a] & found.complete[b]
    clusters = found.clusters[common]
    hits = found.hits[a, common].astype(np.int64) - found.hits[b, common]
    lead = int((hits * found.units).sum())
    shares = (-hits if lead < 0 else hits) / found.sizes
    if cluster_count(clusters) < FEWEST_CLUSTERS:
        unknown = np.full(len(found.names), np.nan)
        gap = shares.mean(axis=0) if len(shares) else unknown
        return lead, np.stack([gap, unknown, unknown]), unknown
    tests = [_tested(column, clusters, level) for column in shares.T]
    bounds = [(t.interval.estimate, t.interval.low, t.interval.high) for t in tests]
    return lead, np.array(bounds).T, np.array([t.p_value for t in tests])


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
