"""Shards become one array, one after the other: no more than one is held as records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.grid.configuration import Configuration
from assay.grid.formats import LabelKind
from assay.leaderboard.apart import Gatherer, codes_of, ways
from assay.leaderboard.codes import MISSING
from assay.leaderboard.comparable import Cell
from assay.leaderboard.correctness import ABSENT, Correctness, Item
from assay.records.columns import Columns
from assay.records.shard import Shard

Slots = NDArray[np.int8]


def refuse_foreign(columns: Columns, shard: Shard) -> None:
    """Raise if a record names another model or benchmark than its manifest.

    Raises
    ------
    AnalysisError
        If one does.
    """
    own = (shard.manifest.model, shard.manifest.benchmark)
    for item, owner in zip(columns.item_ids, columns.owners, strict=True):
        if owner != own:
            raise AnalysisError(
                f"item {item} belongs to {' on '.join(owner)}, the manifest says "
                f"{' on '.join(own)}.",
                where=shard.folder,
            )


@dataclass(frozen=True)
class _Base:
    """The first shard of a benchmark, with which all others of it must agree."""

    folder: Path
    rows: slice
    items: tuple[Item, ...]
    gold_slots: Slots


class ShardTable:
    """The arrays of all shards, filled one shard after the other.

    Parameters
    ----------
    cells : sequence of Cell
        All that will be added, sorted by model and benchmark.
    """

    def __init__(self, cells: Sequence[Cell]):
        self._manifest = manifest = cells[0].manifest
        self._keys = ways(manifest.configurations)
        self.models = sorted({one.model for one in cells})
        sizes = {one.benchmark: one.rows for one in reversed(cells)}
        starts = np.cumsum([0, *(sizes[name] for name in sorted(sizes))]).tolist()
        self._places = {
            name: slice(start, start + sizes[name])
            for name, start in zip(sorted(sizes), starts, strict=False)
        }
        self._bases: dict[str, _Base] = {}
        self._synthetic = False
        shape = (len(self.models), starts[-1], len(self._keys))
        self._values = np.full(shape, MISSING, np.uint8)
        self._statuses = np.full(shape, ABSENT, np.uint8)
        self._slots = np.full(shape, -1, np.int8)
        self._gold_slots = np.full(shape[1:], -1, np.int8)

    def add(self, shard: Shard, columns: Columns) -> None:
        """Put a shard where it belongs.

        Raises
        ------
        AnalysisError
            If it holds other items than the first of its benchmark, or other orders.
        """
        seen = [columns.observations[key] for key in self._keys]
        gold_slots = _across([one.shown_at(columns.gold) for one in seen], np.int8)
        base = self._agreed(shard, columns, gold_slots)
        m = self.models.index(shard.manifest.model)
        self._values[m, base.rows] = _across([codes_of(one) for one in seen], np.uint8)
        self._statuses[m, base.rows] = _across([one.status for one in seen], np.uint8)
        slots = _across([one.shown_at(one.choice) for one in seen], np.int8)
        self._slots[m, base.rows] = slots
        here = self._gold_slots[base.rows]
        np.maximum(here, gold_slots, out=here)
        self._synthetic |= shard.manifest.provenance.get("synthetic") is True

    def _agreed(
        self,
        shard: Shard,
        columns: Columns,
        gold_slots: Slots,
    ) -> _Base:
        name = shard.manifest.benchmark
        if name not in self._bases:
            items = tuple(
                Item(name, item, cluster, subject, len(options))
                for item, cluster, subject, options in zip(
                    columns.item_ids,
                    columns.clusters,
                    columns.subjects,
                    columns.options,
                    strict=True,
                )
            )
            self._bases[name] = _Base(shard.folder, self._places[name], items, gold_slots)
        base = self._bases[name]
        _refuse_items(base, shard, columns.item_ids)
        _refuse_orders(base, shard, gold_slots)
        return base

    def correctness(self, gatherer: Gatherer) -> Correctness:
        """Return everything, with what was gathered apart."""
        legend = self._manifest.configurations
        asked = [legend[key] for key in self._keys]
        generated = {way["format"] for way in asked if way["scoring"] == "gen"}
        items = tuple(item for name in self._places for item in self._bases[name].items)
        return Correctness(
            models=tuple(self.models),
            items=items,
            configurations=tuple(
                Configuration(w["scoring"], w["format"], w["order"]) for w in asked
            ),
            reference=self._keys.index(self._manifest.reference),
            values=self._values,
            statuses=self._statuses,
            slots=self._slots,
            gold_slots=self._gold_slots,
            labels={
                name: label_kind(kind)
                for name, kind in sorted(self._manifest.labels.items())
                if name in generated
            },
            synthetic=self._synthetic,
            apart=gatherer.apart(legend, self.models, self._places),
        )


def _across(columns: Sequence[Any], dtype: Any) -> Any:
    """Return columns side by side, shape (item, configuration)."""
    return np.stack(columns, axis=1).astype(dtype)


def _refuse_items(base: _Base, shard: Shard, item_ids: Sequence[str]) -> None:
    strange = sorted({item.item_id for item in base.items} ^ set(item_ids))
    if strange:
        raise AnalysisError(
            f"{base.folder} and {shard.folder} hold different items of "
            f"{shard.manifest.benchmark}: {len(strange)} occur in one only, such as "
            f"{', '.join(strange[:3])}.",
            fix="collect every model on one snapshot of the benchmark.",
        )


def _refuse_orders(base: _Base, shard: Shard, gold_slots: Slots) -> None:
    both = (gold_slots >= 0) & (base.gold_slots >= 0)
    differs = (both & (gold_slots != base.gold_slots)).any(axis=1)
    if differs.any():
        item = base.items[int(np.argmax(differs))].item_id
        raise AnalysisError(
            f"{base.folder} and {shard.folder} showed the options of item {item} in different "
            "orders under one name.",
            fix="collect every shard with the same grid.",
        )


def label_kind(name: str) -> LabelKind:
    """Return the kind of labels that a manifest names.

    Raises
    ------
    AnalysisError
        If there is no such kind.
    """
    for kind in get_args(LabelKind):
        if kind == name:
            return cast(LabelKind, kind)
    raise AnalysisError(f"unknown kind of labels {name!r}.", fix="it is one of upper, digit.")
