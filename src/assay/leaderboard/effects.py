"""Whether the way of asking changes a model's accuracy, axis by axis and family by family."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.band import axes
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.families import cluster_count, families
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, gap_interval, listed, points
from assay.stats.clusters import FEWEST_CLUSTERS, clustered_difference
from assay.stats.conditions import cochran_q
from assay.stats.multiplicity import adjust_p, holm
from assay.stats.paired import PairedCounts, mcnemar_exact, paired_difference

Floats = NDArray[np.float64]

#: The axes in the order of the table; "family" compares family means, the others configurations.
AXES = ("order", "format", "scoring", "family")


@dataclass(frozen=True, slots=True)
class LevelPair:
    """Two levels of an axis: `first` has the higher accuracy, by `gap`.

    `p_adjusted` is Holm's over the pairs of levels; the interval is not adjusted.
    """

    first: str
    second: str
    gap: float
    low: float
    high: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """What one axis does to one model.

    Attributes
    ----------
    model, axis : str
    levels : tuple of str
        Keys of the configurations along the axis, or names of the families.
    accuracy : tuple of float
        Of each level, on the same items.
    items : int
    test : str
        The test that decides whether any two levels differ.
    statistic, p_value : float
        NaN where nothing can be told.
    p_adjusted : float
        Over all models and axes of the scope (Benjamini-Yekutieli).
    pairs : tuple of LevelPair
    """

    model: str
    axis: str
    levels: tuple[str, ...]
    accuracy: tuple[float, ...]
    items: int
    test: str
    statistic: float
    p_value: float
    p_adjusted: float
    pairs: tuple[LevelPair, ...]


@dataclass(frozen=True)
class ConfigurationEffects(Finding):
    """The effects of every axis on every model."""

    name: ClassVar[str] = "configuration_effects"
    effects: tuple[AxisEffect, ...]
    alpha: float

    @property
    def reading(self) -> str:
        """For how many models each axis matters, and the largest effect of a family."""
        tested = [effect for effect in self.effects if not np.isnan(effect.p_value)]
        if not tested:
            return (
                "Whether the way of asking matters cannot be told: no two configurations were "
                "asked on enough independent items that they tell apart."
            )
        parts = [self._share(axis) for axis in AXES if any(e.axis == axis for e in self.effects)]
        pair, effect = max(
            ((pair, effect) for effect in tested for pair in effect.pairs),
            key=lambda entry: entry[0].gap,
        )
        spread = gap_interval(pair.low, pair.high, level=1 - self.alpha)
        return (
            f"Accuracy depends on {listed(parts)} (corrected over all of these); the largest "
            f"effect is that of {effect.axis} on {effect.model}, {points(pair.gap)} points between "
            f"{pair.first} and {pair.second} ({spread}, {count(effect.items, 'item')})."
        )

    def _share(self, axis: str) -> str:
        along = [effect for effect in self.effects if effect.axis == axis]
        found = sum(effect.p_adjusted <= self.alpha for effect in along)
        return f"the {axis} for {found} of {count(len(along), 'model')}"


def configuration_effects(
    correctness: Correctness, scope: Scope, *, alpha: float = 0.05
) -> ConfigurationEffects:
    """Test whether accuracy differs between the levels of each axis.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    alpha : float
        Share of wrong discoveries among the axes that are said to matter.

    Returns
    -------
    ConfigurationEffects
        An axis along which nothing varies is left out.

    Raises
    ------
    AnalysisError
        If alpha is out of range.

    Notes
    -----
    Along order, format and scoring (`assay.leaderboard.band.axes`) outcomes are binary: Cochran's
    Q decides, and exact McNemar tests with Holm's correction say which levels differ. A family's
    outcome is a mean over its configurations; and where several items share a cluster, neither
    test holds. Then the levels are compared by clustered differences, and the axis matters if
    any pair differs after Holm's correction.

    References
    ----------
    Cochran (1950), Biometrika 37:256-266; Holm (1979), Scandinavian Journal of Statistics 6:65-70.
    """
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
    effects = [_effect(table, 1 - alpha) for table in _tables(correctness, scope)]
    adjusted = adjust_p([effect.p_value for effect in effects]).p_values
    effects = [
        replace(effect, p_adjusted=float(p)) for effect, p in zip(effects, adjusted, strict=True)
    ]
    return ConfigurationEffects(scope.benchmark, tuple(effects), alpha)


def effect_table(found: ConfigurationEffects) -> pd.DataFrame:
    """Return one row for each model, axis and pair of levels.

    Columns: model, benchmark, axis, first, second (text; first has the higher accuracy), n
    (whole), gap, low, high, p_pair (Holm over the axis' pairs), p_axis (over models and axes)
    (real).
    """
    rows = [
        {
            "model": effect.model,
            "benchmark": found.benchmark,
            "axis": effect.axis,
            "first": pair.first,
            "second": pair.second,
            "n": effect.items,
            "gap": pair.gap,
            "low": pair.low,
            "high": pair.high,
            "p_pair": pair.p_adjusted,
            "p_axis": effect.p_adjusted,
        }
        for effect in found.effects
        for pair in effect.pairs
    ]
    return pd.DataFrame(rows)


@dataclass(frozen=True, slots=True)
class _Table:
    """Outcomes of one model along one axis, shape (item, level)."""

    model: str
    axis: str
    levels: tuple[str, ...]
    outcomes: Floats
    clusters: NDArray[np.intp]

    @property
    def independent(self) -> bool:
        """Whether the exact tests for binary outcomes hold."""
        return self.axis != "family" and cluster_count(self.clusters) == self.clusters.size


def _tables(correctness: Correctness, scope: Scope) -> Iterator[_Table]:
    counted, offered = families(correctness, scope), correctness.offered(scope)
    ways = {
        axis: kept
        for axis, along in axes(correctness).items()
        if (kept := np.intersect1d(along, offered)).size > 1
    }
    inside = np.flatnonzero(scope.items)
    for row, m in enumerate(counted.models):
        model, items = correctness.models[m], inside[counted.complete[row]]
        clusters = correctness.cluster_of[items]
        for axis, along in ways.items():
            keys = tuple(correctness.configurations[c].key for c in along)
            outcomes = correctness.right[m][np.ix_(items, along)].astype(float)
            yield _Table(model, axis, keys, outcomes, clusters)
        if len(counted.names) > 1:
            shares = counted.shares(row, counted.complete[row])
            yield _Table(model, "family", counted.names, shares, clusters)


def _effect(table: _Table, level: float) -> AxisEffect:
    """Return the effect, its p-value not adjusted yet."""
    test, statistic, p_value, pairs = _tested(table, level)
    return AxisEffect(
        model=table.model,
        axis=table.axis,
        levels=table.levels,
        accuracy=tuple(_means(table.outcomes).tolist()),
        items=len(table.outcomes),
        test=test,
        statistic=statistic,
        p_value=p_value,
        p_adjusted=p_value,
        pairs=pairs,
    )


def _tested(table: _Table, level: float) -> tuple[str, float, float, tuple[LevelPair, ...]]:
    """Return test, statistic, p-value and pairs."""
    if table.independent:
        pairs = _exact_pairs(table, level) if len(table.outcomes) else ()
        if np.ptp(table.outcomes, axis=1).any():
            q = cochran_q(table.outcomes, dependence="any")
            return q.method, float(q.statistic), float(q.p_value), pairs
        return "Cochran's Q", np.nan, np.nan, pairs
    test = "clustered differences of all pairs, Holm"
    if cluster_count(table.clusters) < FEWEST_CLUSTERS:
        return test, np.nan, np.nan, ()
    pairs = _clustered_pairs(table, level)
    return test, np.nan, min(pair.p_adjusted for pair in pairs), pairs


def _exact_pairs(table: _Table, level: float) -> tuple[LevelPair, ...]:
    i, j = _ordered_pairs(table)
    counts = PairedCounts.of(table.outcomes.T[j], table.outcomes.T[i])
    gap = paired_difference(counts, level=level)
    p_values = np.asarray(mcnemar_exact(counts).p_value, float)
    bounds = (np.asarray(values, float) for values in (gap.estimate, gap.low, gap.high))
    return _pairs(table, i, j, np.column_stack([*bounds, p_values]))


def _clustered_pairs(table: _Table, level: float) -> tuple[LevelPair, ...]:
    i, j = _ordered_pairs(table)
    rows = []
    with warnings.catch_warnings():
        # Levels that agree on every item have no interval: the NaN says so.
        warnings.simplefilter("ignore", RuntimeWarning)
        for lead in (table.outcomes[:, i] - table.outcomes[:, j]).T:
            test = clustered_difference(lead, table.clusters, level=level)
            rows.append(
                (test.interval.estimate, test.interval.low, test.interval.high, test.p_value)
            )
    return _pairs(table, i, j, np.array(rows, float))


def _ordered_pairs(table: _Table) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of levels, the one with the higher accuracy first."""
    i, j = np.triu_indices(len(table.levels), 1)
    means = _means(table.outcomes)
    swapped = means[i] < means[j]
    return np.where(swapped, j, i), np.where(swapped, i, j)


def _means(outcomes: Floats) -> Floats:
    return outcomes.mean(axis=0) if len(outcomes) else np.full(outcomes.shape[1], np.nan)


def _pairs(
    table: _Table, i: NDArray[np.intp], j: NDArray[np.intp], rows: Floats
) -> tuple[LevelPair, ...]:
    adjusted = holm(rows[None, :, 3])[0]
    return tuple(
        LevelPair(table.levels[a], table.levels[b], float(gap), float(low), float(high), float(p))
        for a, b, (gap, low, high, _), p in zip(i, j, rows, adjusted, strict=True)
    )
