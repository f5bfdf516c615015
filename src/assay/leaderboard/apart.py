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
from assay.records.manifest import Manifest
from assay.records.schema import MISSING as MISSING_STATUSES
from assay.records.schema import Observation, Record

Codes = NDArray[np.uint8]
Legend = Mapping[str, Mapping[str, Any]]


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


def code_of(observation: Observation) -> int:
    """Return the code of an outcome, as in `Correctness.values`."""
    if observation.correct is None:
        return MISSING if observation.status in MISSING_STATUSES else NOT_APPLICABLE
    return RIGHT if observation.correct else WRONG


@dataclass
class Gatherer:
    """Takes from records, as they pass by, what is kept apart (see `load`)."""

    _seen: dict[tuple[str, str, str], dict[str, Observation]] = field(default_factory=dict)
    _unequal: bool = False

    def __call__(self, manifest: Manifest, record: Record) -> None:
        """Add one record."""
        legend = manifest.configurations
        kept = {k: o for k, o in record.observations.items() if _is_apart(legend[k])}
        if kept:
            self._seen[record.model, record.benchmark, record.item_id] = kept
        lengths: dict[str, set[int]] = {}
        for key, observation in record.observations.items():
            if legend[key].get("matched") and observation.prompt_tokens is not None:
                lengths.setdefault(legend[key]["order"], set()).add(observation.prompt_tokens)
        self._unequal |= any(len(found) > 1 for found in lengths.values())

    def apart(
        self, legend: Legend, models: Sequence[str], items: Sequence[tuple[str, str]]
    ) -> Apart:
        """Return everything that was seen.

        Parameters
        ----------
        items : sequence of (benchmark, item id)
        """
        places = ({m: k for k, m in enumerate(models)}, {i: k for k, i in enumerate(items)})
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
        codes = np.full((len(places[0]), len(places[1])), MISSING, np.uint8)
        for (model, benchmark, item), observations in self._seen.items():
            codes[places[0][model], places[1][benchmark, item]] = code_of(observations[key])
        return codes

    def _labels(self, legend: Legend, name: str, places: _Places) -> LabelScores:
        keys = sorted(
            (key for key, entry in legend.items() if _is_scored(entry, name)),
            key=lambda key: (len(key), key),
        )
        shown = [o for kept in self._seen.values() for k, o in kept.items() if k in keys]
        size = max((len(o.order) for o in shown if o.order is not None), default=0)
        log_probs = np.full((len(places[0]), len(places[1]), len(keys), size), np.nan, np.float32)
        orders = np.full(log_probs.shape[1:], -1, np.int8)
        for (model, benchmark, item), observations in self._seen.items():
            m, i = places[0][model], places[1][benchmark, item]
            for k, key in enumerate(keys):
                order, scores = observations[key].order, observations[key].scores
                if order is None:
                    continue
                orders[i, k, : len(order)] = order
                if scores is not None:
                    log_probs[m, i, k, : len(order)] = [_number(scores.sum[o]) for o in order]
        columns = ways(legend)
        return LabelScores(tuple(columns.index(key) for key in keys), log_probs, orders)


_Places = tuple[dict[str, int], dict[tuple[str, str], int]]


def _scored(legend: Legend) -> list[str]:
    return sorted({e["format"] for e in legend.values() if _is_scored(e, e["format"])})


def _is_scored(entry: Mapping[str, Any], name: str) -> bool:
    scored = entry["format"] == name and entry.get("scored") == "label"
    return scored and entry.get("role") is None


def _is_apart(entry: Mapping[str, Any]) -> bool:
    return entry.get("role") is not None or entry.get("scored") == "label"


def _number(value: float | None) -> float:
    return np.nan if value is None else value
