"""The part of a scope in which nothing is missing, for analyses that need a balanced design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.leaderboard.correctness import Bools, Correctness, Scope


@dataclass(frozen=True)
class Cube:
    """Items observed for every model under every offered configuration.

    Attributes
    ----------
    models, items, configurations : ndarray of int
        Indices into the `Correctness` it was cut from.
    reference : int
        Index of the reference within `configurations`.
    right : ndarray of bool, shape (model, item, configuration)
    clusters : ndarray of int, shape (item,), or None
        Cluster of each item; None where every item is its own.
    scope_items : int
        Items of the scope, complete or not.
    """

    models: NDArray[np.intp]
    items: NDArray[np.intp]
    configurations: NDArray[np.intp]
    reference: int
    right: Bools
    clusters: NDArray[np.intp] | None
    scope_items: int

    @classmethod
    def of(cls, correctness: Correctness, scope: Scope) -> Cube:
        """Cut the complete items out of `scope`; models without any observation are left out."""
        models, offered = correctness.ranked(scope), correctness.offered(scope)
        common = np.flatnonzero(correctness.complete(scope)[models].all(axis=0) & scope.items)
        return cls(
            models=models,
            items=common,
            configurations=offered,
            reference=int(np.searchsorted(offered, correctness.reference)),
            right=cut(correctness.right, models, common, offered),
            clusters=cluster_codes(correctness, common),
            scope_items=int(scope.items.sum()),
        )

    @property
    def share(self) -> float:
        """Share of the scope's items that are complete; NaN for an empty scope."""
        return self.items.size / self.scope_items if self.scope_items else float("nan")

    @property
    def units(self) -> int:
        """Items, or clusters of items, that can be drawn independently."""
        return self.items.size if self.clusters is None else int(self.clusters.max()) + 1


def cut(cells: NDArray[Any], *kept: NDArray[np.intp]) -> NDArray[Any]:
    """Return the part of `cells` at the given places of each axis, ``cells[np.ix_(*kept)]``.

    Places that follow each other cost no copy: the result may be a view, to be read only.
    """
    for axis, places in enumerate(kept):
        cells = cells[(*[slice(None)] * axis, _run(places))]
    return cells


def _run(places: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    if places.size and np.array_equal(places, np.arange(places[0], places[0] + places.size)):
        return slice(int(places[0]), int(places[0]) + places.size)
    return places


def cluster_codes(correctness: Correctness, items: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return the cluster of each of `items` as a number; None where every item is its own."""
    names = [correctness.items[k].cluster for k in items]
    if len(set(names)) == len(names):
        return None
    codes: NDArray[np.intp] = np.unique(names, return_inverse=True)[1]
    return codes
