"""Which outcomes are exchanged when the levels of one axis are permuted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.leaderboard.correctness import Bools, Correctness, Scope, family
from assay.leaderboard.families import families

AXES = ("order", "format", "scoring", "family")


@dataclass(frozen=True)
class AxisCells:
    """Outcomes of items within which the levels of an axis are exchangeable.

    Attributes
    ----------
    levels : tuple of str
    hits : ndarray of float, shape (model, item, place)
        Whole numbers: how many outcomes of the item at the place are right, over all settings of
        the other axes.
    labels : ndarray of int8, shape (item, place)
        Level of each place.
    totals : ndarray of float, shape (level,)
        What the hits of a level are divided by to give its accuracy.
    clusters : ndarray of int, shape (item,)
        Numbered from 0; items of one cluster are not independent.
    """

    levels: tuple[str, ...]
    hits: NDArray[np.floating]
    labels: NDArray[np.int8]
    totals: NDArray[np.float64]
    clusters: NDArray[np.intp]

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.labels)


def axis_cells(correctness: Correctness, scope: Scope, axis: str) -> AxisCells:
    """Arrange the outcomes of `scope` along `axis`.

    Only items observed for every model under every offered configuration take part.

    format
        A place is a generation format, over all orders.
    order
        A place is an order, over all formats; its level is the position at which the right option
        was shown, because the name of an order says nothing about that. Items with another number
        of options than most are left out.
    family, scoring
        A place is a family of configurations with its mean over them. Scoring gathers the
        families into generation and likelihood, each family counting once.
    """
    models = correctness.ranked(scope)
    common = np.asarray(correctness.complete(scope)[models].all(axis=0), bool)
    if axis == "format":
        return _formats(correctness, scope, common)
    if axis == "order":
        return _positions(correctness, scope, common)
    return _families(correctness, scope, common, scoring=axis == "scoring")


def generation_table(correctness: Correctness, scope: Scope) -> tuple[list[str], NDArray[np.intp]]:
    """Return the formats and the generation configurations, shape (order, format).

    Orders that were not asked in every format are left out.
    """
    offered = correctness.offered(scope)
    ways = {correctness.configurations[c]: int(c) for c in offered}
    # A grid without orders asks every format in the one order that there is.
    asked = {(way.format, str(way.order)): c for way, c in ways.items() if way.scoring == "gen"}
    formats = sorted({form for form, _ in asked})
    orders = sorted({order for _, order in asked})
    full = [order for order in orders if all((form, order) in asked for form in formats)]
    table = [[asked[form, order] for form in formats] for order in full]
    return formats, np.array(table, np.intp).reshape(len(full), len(formats))


def _formats(correctness: Correctness, scope: Scope, common: Bools) -> AxisCells:
    formats, table = generation_table(correctness, scope)
    models = correctness.ranked(scope)
    right = correctness.right[models][:, common][:, :, table]
    hits = right.sum(axis=2, dtype=np.int64)
    items = int(common.sum())
    labels = np.tile(np.arange(len(formats)), (items, 1)).astype(np.int8)
    totals = np.full(len(formats), items * len(table), float)
    clusters = _numbered(correctness, common)
    return AxisCells(tuple(formats), _exact(hits), labels, totals, clusters)


def _positions(correctness: Correctness, scope: Scope, common: Bools) -> AxisCells:
    formats, table = generation_table(correctness, scope)
    models = correctness.ranked(scope)
    options = np.array([item.options for item in correctness.items])
    shown = (correctness.gold_slots[:, table.ravel()] >= 0).all(axis=1)
    kept = common & shown & bool(table.size)
    if kept.any():
        kept &= options == np.bincount(options[kept]).argmax()
    slots = correctness.gold_slots[kept][:, table[:, 0] if table.size else []]
    hits = correctness.right[models][:, kept][:, :, table].sum(axis=3, dtype=np.int64)
    seen, place = np.unique(slots, return_inverse=True)
    labels = place.reshape(slots.shape).astype(np.int8)
    totals = len(formats) * np.bincount(place.ravel(), minlength=seen.size).astype(float)
    names = tuple(f"position {slot + 1}" for slot in seen)
    return AxisCells(names, _exact(hits), labels, totals, _numbered(correctness, kept))


def _families(correctness: Correctness, scope: Scope, common: Bools, *, scoring: bool) -> AxisCells:
    found = families(correctness, scope)
    hits = found.hits[:, common[scope.items]].astype(np.int64)
    # Means over families of different sizes, as whole numbers of one common share.
    unit = math.lcm(*(int(size) for size in found.sizes))
    hits = hits * (unit // found.sizes)
    levels = found.names
    level_of = np.arange(len(levels))
    if scoring:
        ways = [correctness.configurations[c] for c in correctness.offered(scope)]
        generated = {family(way) for way in ways if way.scoring == "gen"}
        level_of = np.array([int(name not in generated) for name in found.names], np.intp)
        present, level_of = np.unique(level_of, return_inverse=True)
        levels = tuple(("generation", "likelihood")[k] for k in present)
    labels = np.tile(level_of, (hits.shape[1], 1)).astype(np.int8)
    members = np.bincount(level_of, minlength=len(levels))
    totals = (members * unit * hits.shape[1]).astype(float)
    return AxisCells(levels, _exact(hits), labels, totals, _numbered(correctness, common))


def _numbered(correctness: Correctness, items: Bools) -> NDArray[np.intp]:
    return np.asarray(np.unique(correctness.cluster_of[items], return_inverse=True)[1], np.intp)


def _exact(hits: NDArray[np.generic]) -> NDArray[np.floating]:
    """Return whole numbers as floats whose sums are exact in any order."""
    largest = float(np.max(hits, initial=0)) * math.prod(hits.shape[1:])
    return hits.astype(np.float32 if largest < 2**24 else np.float64)
