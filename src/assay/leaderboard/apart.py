"""What a grid asks beside its configurations, kept apart from them.

A replicate is no further way to ask, a control without the question is no measure of knowledge,
and label probabilities are more than right or wrong: none of them may enter a band or a ranking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.leaderboard.codes import MISSING, NOT_APPLICABLE, RIGHT, WRONG
from assay.records.columns import Column, Columns
from assay.records.manifest import Manifest
from assay.records.schema import MISSING as MISSING_STATUSES
from assay.records.schema import STATUSES

Codes = NDArray[np.uint8]
Legend = Mapping[str, Mapping[str, Any]]

_FAILED = np.array([status in MISSING_STATUSES for status in STATUSES])
#: By 0 (wrong) and 1 (right).
_OUTCOME = np.array([WRONG, RIGHT])


@dataclass(frozen=True)
class LabelScores:
    """Scored labels of one format.

    Attributes
    ----------
    columns : tuple of int
        The configurations of the format in `Correctness`, one for each order.
    log_probs : ndarray of float32, shape (model, item, order, label)
        log P(label), as shown; NaN where the label or the order does not occur, or has no score.
    orders : ndarray of int8, shape (item, order, label)
        The option shown at each label; -1 where there is none.
    """

    columns: tuple[int, ...]
    log_probs: NDArray[np.float32]
    orders: NDArray[np.int8]


@dataclass(frozen=True)
class Apart:
    """Observations that no analysis of configurations counts.

    Attributes
    ----------
    again : ndarray of uint8, shape (model, item), or None
        Codes of the second asking of the reference configuration; None if it was not asked.
    controls : dict of str to ndarray of uint8, shape (model, item)
        Codes of every configuration without the question, by its key.
    labels : dict of str to LabelScores
        By the format whose labels were scored.
    matched : tuple of str
        Generation formats that are declared to be, and are, of one length in tokens.
    """

    again: Codes | None = None
    controls: dict[str, Codes] = field(default_factory=dict)
    labels: dict[str, LabelScores] = field(default_factory=dict)
    matched: tuple[str, ...] = ()


def ways(legend: Legend) -> list[str]:
    """Return the keys of the configurations that are ways to ask, sorted."""
    return sorted(key for key, entry in legend.items() if entry.get("role") is None)


def codes_of(column: Column) -> Codes:
    """Return the codes of outcomes, as in `Correctness.values`, shape (item,)."""
    unanswered = np.where(_FAILED[column.status], MISSING, NOT_APPLICABLE)
    return np.where(column.correct < 0, unanswered, _OUTCOME[column.correct]).astype(np.uint8)


@dataclass
class Gatherer:
    """Takes from shards, as they pass by, what is kept apart (see `load`)."""

    _seen: dict[tuple[str, str], dict[str, Column]] = field(default_factory=dict)
    _unequal: bool = False

    def __call__(self, manifest: Manifest, columns: Columns) -> None:
        """Add one shard."""
        legend = manifest.configurations
        kept = {k: column for k, column in columns.observations.items() if _is_apart(legend[k])}
        if kept:
            self._seen[manifest.model, manifest.benchmark] = kept
        lengths: dict[str, list[NDArray[np.int64]]] = {}
        for key, column in columns.observations.items():
            if legend[key].get("matched"):
                lengths.setdefault(legend[key]["order"], []).append(column.prompt_tokens)
        self._unequal |= any(_differ(found) for found in lengths.values())

    def apart(
        self, legend: Legend, models: Sequence[str], benchmarks: Mapping[str, slice]
    ) -> Apart:
        """Return everything that was seen.

        Parameters
        ----------
        benchmarks : mapping of str to slice
            Where the items of each benchmark lie among all items, in order of item id.
        """
        places = _Places(models, benchmarks)
        controls = {
            key: self._codes(key, places)
            for key, entry in sorted(legend.items())
            if entry.get("role") == "choices_only"
        }
        again = [key for key, entry in legend.items() if entry.get("role") == "again"]
        matched = {entry["format"] for entry in legend.values() if entry.get("matched")}
        return Apart(
            again=self._codes(again[0], places) if again else None,
            controls=controls,
            labels={name: self._labels(legend, name, places) for name in _scored(legend)},
            matched=() if self._unequal else tuple(sorted(matched)),
        )

    def _codes(self, key: str, places: _Places) -> Codes:
        codes = np.full(places.shape, MISSING, np.uint8)
        for cell, columns in self._seen.items():
            codes[places.of(cell)] = codes_of(columns[key])
        return codes

    def _labels(self, legend: Legend, name: str, places: _Places) -> LabelScores:
        keys = sorted(
            (key for key, entry in legend.items() if _is_scored(entry, name)),
            key=lambda key: (len(key), key),
        )
        shown = [columns[key].orders.shape[1] for columns in self._seen.values() for key in keys]
        log_probs = np.full((*places.shape, len(keys), max(shown, default=0)), np.nan, np.float32)
        orders = np.full(log_probs.shape[1:], -1, np.int8)
        for cell, columns in self._seen.items():
            m, items = places.of(cell)
            for k, key in enumerate(keys):
                order, sums = columns[key].orders, columns[key].sums
                width, there = order.shape[1], order >= 0
                # A view: rows of a benchmark, labels of this configuration.
                mine = orders[items, k, :width]
                mine[there] = order[there]
                if sums.shape[1]:
                    found = np.take_along_axis(sums, order.clip(min=0), axis=1)
                    log_probs[m, items, k, :width] = np.where(there, found, np.nan)
        columns_of = ways(legend)
        return LabelScores(tuple(columns_of.index(key) for key in keys), log_probs, orders)


@dataclass(frozen=True)
class _Places:
    """Where a shard lies among all models and items."""

    models: Sequence[str]
    benchmarks: Mapping[str, slice]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.models), max((rows.stop for rows in self.benchmarks.values()), default=0)

    def of(self, cell: tuple[str, str]) -> tuple[int, slice]:
        model, benchmark = cell
        return self.models.index(model), self.benchmarks[benchmark]


def _differ(lengths: Sequence[NDArray[np.int64]]) -> bool:
    """Tell whether any item's lengths, where they are known, differ."""
    every = np.stack(lengths)
    known = np.where(every < 0, every.max(axis=0), every)
    return bool((known != known[0]).any())


def _scored(legend: Legend) -> list[str]:
    return sorted({e["format"] for e in legend.values() if _is_scored(e, e["format"])})


def _is_scored(entry: Mapping[str, Any], name: str) -> bool:
    scored = entry["format"] == name and entry.get("scored") == "label"
    return scored and entry.get("role") is None


def _is_apart(entry: Mapping[str, Any]) -> bool:
    return entry.get("role") is not None or entry.get("scored") == "label"
