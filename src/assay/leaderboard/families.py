"""Accuracy by declared family of configurations, and what holds in every family.

Configurations of one family (a label format, or cloze) differ by far less than the families do.
A family counts once, however many orders it was asked in, so that 26 configurations are five
pieces of evidence and not 26. Families are fixed: nothing here resamples them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from assay.leaderboard.correctness import Bools, Correctness, Scope, family
from assay.leaderboard.cube import cut
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, interval, percent
from assay.stats.result import Interval

Floats = NDArray[np.float64]

_REFERENCE = (
    "Wilson (1927), JASA 22:209-212, at the effective sample size of Korn & Graubard (1998), "
    "Survey Methodology 24:193-201"
)


@dataclass(frozen=True)
class Families:
    """The outcomes of one scope, counted by family.

    Attributes
    ----------
    names : tuple of str
        Sorted.
    models : ndarray of int, shape (model,)
        Those with observations in the scope.
    sizes : ndarray of int, shape (family,)
        Offered configurations of each family.
    hits : ndarray of int16, shape (model, item, family)
        How many of them are right; items of the scope only.
    complete : ndarray of bool, shape (model, item)
        Observed under every offered configuration; only there does `hits` count.
    clusters : ndarray of int, shape (item,)
    """

    names: tuple[str, ...]
    models: NDArray[np.intp]
    sizes: NDArray[np.int64]
    hits: NDArray[np.int16]
    complete: Bools
    clusters: NDArray[np.intp]

    @property
    def units(self) -> NDArray[np.int64]:
        """What one hit of each family adds to the mean over families, as whole numbers."""
        return math.lcm(*self.sizes.tolist()) // self.sizes

    def shares(self, model: int, items: Bools) -> Floats:
        """Return the share right in each family, shape (item, family), of the chosen items."""
        return np.asarray(self.hits[model, items] / self.sizes, float)


def families(correctness: Correctness, scope: Scope) -> Families:
    """Count the outcomes of `scope` by family."""
    kept, offered = correctness.ranked(scope), correctness.offered(scope)
    member = np.array([family(correctness.configurations[c]) for c in offered])
    names, sizes = np.unique(member, return_counts=True)
    right = cut(correctness.right, kept, np.flatnonzero(scope.items))
    hits = [right[:, :, offered[member == name]].sum(axis=2, dtype=np.int16) for name in names]
    return Families(
        names=tuple(str(name) for name in names),
        models=kept,
        sizes=sizes.astype(np.int64),
        hits=np.stack(hits, axis=2) if hits else np.zeros((*right.shape[:2], 0), np.int16),
        complete=correctness.complete(scope)[kept][:, scope.items],
        clusters=correctness.cluster_of[scope.items],
    )


def cluster_count(clusters: NDArray[np.intp]) -> int:
    """Return the number of different clusters."""
    return int(np.count_nonzero(np.bincount(clusters)))


def share_interval(
    shares: Floats, clusters: NDArray[np.intp], *, observations: int, level: float
) -> Interval:
    """Return the mean of per-item shares with a cluster-robust Wilson interval.

    Parameters
    ----------
    shares : ndarray of float, shape (item,)
        Between 0 and 1: a mean over the configurations that the item was asked under.
    clusters : ndarray of int, shape (item,)
    observations : int
        How many outcomes each share is a mean of.
    level : float

    Returns
    -------
    Interval
        NaN with fewer than two clusters. `n` counts items.

    Notes
    -----
    Wilson's interval at ``p (1 - p) / se**2`` items, with the clustered standard error of the
    mean and a correction for its degrees of freedom. Averaging over orders makes the effective
    number larger than the number of items, but never than that of observations. Where every
    item has the same share there is no standard error to go by, and each cluster counts once.

    Examples
    --------
    >>> found = share_interval(np.array([0.0, 0.5, 1, 1, 1, 1]), np.arange(6), observations=2,
    ...                        level=0.95)
    >>> round(found.estimate, 2), round(found.low, 2), round(found.high, 2)
    (0.75, 0.29, 0.96)
    """
    n, groups = shares.size, cluster_count(clusters)
    estimate = low = high = float("nan")
    if n:
        estimate = float(shares.mean())
    if groups >= 2:
        sums = np.bincount(clusters, weights=shares - estimate)
        variance = groups / (groups - 1) * float(np.sum(sums**2)) / n**2
        size = min(estimate * (1 - estimate) / variance, n * observations) if variance else groups
        z = float(special.ndtri((1 + level) / 2))
        t = float(stats.t.ppf((1 + level) / 2, groups - 1))
        low, high = _wilson(estimate, size * (z / t) ** 2, z)
    return Interval(estimate, low, high, level, n, "cluster-robust Wilson", _REFERENCE)


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    """Return Wilson's bounds; statsmodels has them for whole numbers of trials only."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return float(max(0.0, middle - reach)), float(min(1.0, middle + reach))


@dataclass(frozen=True)
class FamilyAccuracy(Finding):
    """Accuracy by family, and their mean with equal weight.

    Attributes
    ----------
    models, families : tuple of str
    configurations : tuple of int
        Offered configurations of each family.
    items : tuple of int
        For each model, the items observed under all of them.
    by_family : tuple of tuple of Interval
        Model by model, family by family; for items like these.
    mean : tuple of Interval
        Each family counts once.
    """

    name: ClassVar[str] = "family_accuracy"
    models: tuple[str, ...]
    families: tuple[str, ...]
    configurations: tuple[int, ...]
    items: tuple[int, ...]
    by_family: tuple[tuple[Interval, ...], ...]
    mean: tuple[Interval, ...]

    @property
    def reading(self) -> str:
        """Who leads on average over families, and where the family matters most."""
        if not any(self.items):
            return "Accuracy by family is unknown: no item was observed under all configurations."
        first = max((m for m, n in enumerate(self.items) if n), key=self._level)
        text = (
            f"With each of {count(len(self.families), 'family', 'families')} counting once, "
            f"{self.models[first]} has the highest accuracy, {_shown(self.mean[first])} of "
            f"{count(self.items[first], 'item')}"
        )
        if len(self.families) < 2:
            return f"{text}."
        widest = max((m for m, n in enumerate(self.items) if n), key=self._range)
        row = self.by_family[widest]
        ends = [min(row, key=_estimate), max(row, key=_estimate)]
        low, high = (f"{_shown(end)} ({self.families[row.index(end)]})" for end in ends)
        return f"{text}; the family matters most for {self.models[widest]}, from {low} to {high}."

    def _level(self, m: int) -> float:
        return float(self.mean[m].estimate)

    def _range(self, m: int) -> float:
        return float(np.ptp([float(found.estimate) for found in self.by_family[m]]))


def _estimate(found: Interval) -> float:
    return float(found.estimate)


def _shown(found: Interval) -> str:
    spread = interval(float(found.low), float(found.high), level=found.level)
    return f"{percent(float(found.estimate))} ({spread})"


def family_accuracy(
    correctness: Correctness, scope: Scope, *, level: float = 0.95
) -> FamilyAccuracy:
    """Return the accuracy of every model in every family.

    Each model's numbers rest on the items that it was observed on under every offered
    configuration, so that families are never compared on different items.
    """
    found = families(correctness, scope)
    by_family, mean = [], []
    for m in range(found.models.size):
        items = found.complete[m]
        shares, clusters = found.shares(m, items), found.clusters[items]
        by_family.append(
            tuple(
                share_interval(column, clusters, observations=int(size), level=level)
                for column, size in zip(shares.T, found.sizes, strict=True)
            )
        )
        together, total = shares.mean(axis=1), int(found.sizes.sum())
        mean.append(share_interval(together, clusters, observations=total, level=level))
    return FamilyAccuracy(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[k] for k in found.models),
        families=found.names,
        configurations=tuple(int(size) for size in found.sizes),
        items=tuple(int(n) for n in found.complete.sum(axis=1)),
        by_family=tuple(by_family),
        mean=tuple(mean),
    )


def family_table(found: FamilyAccuracy) -> pd.DataFrame:
    """Return one row for each model and family, and one for their mean.

    Columns: model, benchmark, family (text; "mean" counts each family once), configurations, n
    (whole; items), accuracy, low, high (real).
    """
    rows = [
        {
            "model": model,
            "benchmark": found.benchmark,
            "family": name,
            "configurations": size,
            "n": found.items[m],
            "accuracy": shown.estimate,
            "low": shown.low,
            "high": shown.high,
        }
        for m, model in enumerate(found.models)
        for name, size, shown in zip(
            (*found.families, "mean"),
            (*found.configurations, sum(found.configurations)),
            (*found.by_family[m], found.mean[m]),
            strict=True,
        )
    ]
    return pd.DataFrame(rows)
