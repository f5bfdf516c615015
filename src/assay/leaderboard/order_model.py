"""The linear model that tells an order from the positions it gives the right options."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats

from assay.leaderboard.correctness import Bools, Correctness, Scope
from assay.leaderboard.families import cluster_count
from assay.leaderboard.permuted_axes import generation_table
from assay.stats.clusters import MANY_CLUSTERS
from assay.stats.result import Interval

Floats = NDArray[np.float64]

_METHOD = "item-fixed linear model with clustered standard errors"
_REFERENCE = "Cameron & Miller (2015), Journal of Human Resources 50:317-372"


@dataclass(frozen=True)
class Design:
    """Effect-coded orders and positions of the kept items, each item's mean taken out.

    Attributes
    ----------
    items : ndarray of bool, shape (item,)
    table : ndarray of int, shape (order, format)
    positions : ndarray of int
    matrix : ndarray of float, shape (item * order, orders - 1 + positions - 1)
    clusters : ndarray of int, shape (item,)
    why_not : str
        Empty where the effects can be told apart.
    """

    items: Bools
    table: NDArray[np.intp]
    positions: NDArray[np.int8]
    matrix: Floats
    clusters: NDArray[np.intp]
    why_not: str


def design_of(correctness: Correctness, scope: Scope) -> Design:
    """Return the design of the generation configurations of `scope`."""
    _, table = generation_table(correctness, scope)
    models = correctness.ranked(scope)
    items = np.asarray(correctness.complete(scope)[models].all(axis=0), bool)
    items &= (correctness.gold_slots[:, table.ravel()] >= 0).all(axis=1) & (table.size > 0)
    slots = correctness.gold_slots[items][:, table[:, 0] if table.size else []]
    positions = np.unique(slots)
    clusters = correctness.cluster_of[items]
    matrix = np.zeros((slots.size, 0))
    if len(table) < 2:
        why = "there are not two orders"
    elif cluster_count(clusters) < MANY_CLUSTERS:
        why = f"fewer than {MANY_CLUSTERS} independent items were observed in every order"
    else:
        order = np.tile(np.arange(len(table)), len(slots))
        place = np.searchsorted(positions, slots.ravel())
        matrix = np.hstack([_coded(order, len(table)), _coded(place, positions.size)])
        matrix = _centred(matrix, len(table))
        full = np.linalg.matrix_rank(matrix) == matrix.shape[1]
        why = "" if full else "each order shows the right option at the same position"
    return Design(items, table, positions, matrix, clusters, why)


def _coded(levels: NDArray[np.intp], number: int) -> Floats:
    """Return effect coding: one column a level but the last, which is minus the others."""
    ones = np.eye(number)[levels]
    return np.asarray(ones[:, :-1] - ones[:, -1:], float)


def _centred(values: Floats, orders: int) -> Floats:
    """Take out the mean of each item, a run of `orders` rows."""
    runs = values.reshape(-1, orders, values.shape[1])
    return np.asarray((runs - runs.mean(axis=1, keepdims=True)).reshape(values.shape), float)


@dataclass(frozen=True, slots=True)
class Fit:
    """The effects of orders and positions on one model.

    Attributes
    ----------
    raw : tuple of float
        Accuracy under each order minus the mean over orders, averaged over generation formats.
    adjusted : tuple of Interval
        The same at equal positions of the right option.
    position : tuple of Interval
        Accuracy with the right option at each position minus the mean over positions, at equal
        orders.
    p_order, p_position : float
        That all effects of a kind are zero; NaN with fewer than 20 clusters that vary.
    """

    raw: tuple[float, ...]
    adjusted: tuple[Interval, ...]
    position: tuple[Interval, ...]
    p_order: float
    p_position: float


def fit(design: Design, right: Bools, level: float) -> Fit:
    """Fit one model, whose outcomes `right` have shape (item, configuration)."""
    orders = len(design.table)
    outcome = right[design.items][:, design.table].mean(axis=2)
    # Items that all orders answer alike carry no evidence, however many there are.
    varying = design.clusters[np.ptp(outcome, axis=1) > 0]
    model = sm.OLS(_centred(outcome.reshape(-1, 1), orders)[:, 0], design.matrix)
    groups = np.repeat(design.clusters, orders)
    result = model.fit(cov_type="cluster", cov_kwds={"groups": groups})
    estimate = _Estimate(result.params, result.cov_params(), cluster_count(varying))
    split, size, n = orders - 1, design.matrix.shape[1], len(outcome)
    return Fit(
        raw=tuple((outcome.mean(axis=0) - outcome.mean()).tolist()),
        adjusted=estimate.effects(slice(0, split), n, level),
        position=estimate.effects(slice(split, size), n, level),
        p_order=estimate.joint(slice(0, split)),
        p_position=estimate.joint(slice(split, size)),
    )


@dataclass(frozen=True)
class _Estimate:
    """Coefficients, their clustered covariance, and the number of clusters that say something."""

    values: Floats
    covariance: Floats
    groups: int

    @property
    def known(self) -> bool:
        return self.groups >= MANY_CLUSTERS

    def effects(self, columns: slice, n: int, level: float) -> tuple[Interval, ...]:
        """Return the effect of every level; the last is minus the sum of the others."""
        contrasts = np.eye(self.values.size)[columns]
        contrasts = np.vstack([contrasts, -contrasts.sum(axis=0)])
        error = np.sqrt(np.einsum("ij,jk,ik->i", contrasts, self.covariance, contrasts))
        t = stats.t.ppf((1 + level) / 2, self.groups - 1) if self.known else np.nan
        estimates = contrasts @ self.values
        return tuple(
            Interval(float(x), float(x - t * e), float(x + t * e), level, n, _METHOD, _REFERENCE)
            for x, e in zip(estimates, error, strict=True)
        )

    def joint(self, columns: slice) -> float:
        """Return the p-value that the effects are zero, by Hotelling's T squared."""
        values, number = self.values[columns], len(self.values[columns])
        if not self.known:
            return float("nan")
        distance = float(values @ np.linalg.solve(self.covariance[columns, columns], values))
        scale = (self.groups - number) / (number * (self.groups - 1))
        return float(stats.f.sf(scale * distance, number, self.groups - number))
