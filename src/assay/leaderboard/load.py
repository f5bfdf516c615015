"""From shard folders to `Correctness`, refusing what must not be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

import numpy as np

from assay.core.errors import AnalysisError
from assay.grid.configuration import Configuration
from assay.grid.formats import LabelKind
from assay.leaderboard.apart import Apart, Gatherer, code_of, ways
from assay.leaderboard.codes import MISSING
from assay.leaderboard.comparable import cell, refuse_incomparable
from assay.leaderboard.correctness import ABSENT, Correctness, Item
from assay.records.manifest import Manifest
from assay.records.schema import MISSING as MISSING_STATUSES
from assay.records.schema import STATUSES, Observation, Record
from assay.records.shard import Shard, read_shard

#: Called once for each record, while the shards are read.
Observer = Callable[[Manifest, Record], None]

_STATUS_CODE = {status: code for code, status in enumerate(STATUSES)}


@dataclass(frozen=True)
class MissingCells:
    """Observations that a complete study would have."""

    model: str
    benchmark: str
    configuration: str | None
    n: int
    status: str


def load(
    folders: Sequence[Path], *, allow_missing: bool = False, observer: Observer | None = None
) -> Correctness:
    """Read shards into one array.

    Parameters
    ----------
    folders : sequence of Path
        Shard folders, in any order: one for each model and benchmark.
    allow_missing : bool
        Accept absent shards and observations that failed; they stay missing.
    observer : callable, optional
        Sees every manifest and record as it passes by.

    Raises
    ------
    AnalysisError
        If there is nothing to read; two shards cover the same model and benchmark; shards of one
        benchmark hold different items, or any two were asked under different configurations or
        orders (both are named); or something is missing and `allow_missing` is false.
    RecordError
        If a shard is torn, altered or incomplete.
    """
    shards = sorted(
        (read_shard(folder) for folder in folders),
        key=lambda shard: (shard.manifest.model, shard.manifest.benchmark),
    )
    refuse_incomparable(shards)
    gatherer = Gatherer()
    observers: list[Observer] = [gatherer]
    if observer is not None:
        observers.append(observer)
    read = [_read(shard, observers) for shard in shards]
    items = _common_items(shards, read)
    models = sorted({shard.manifest.model for shard in shards})
    named = [(item.benchmark, item.item_id) for item in items]
    apart = gatherer.apart(shards[0].manifest.configurations, models, named)
    correctness = _assemble(shards, read, items, apart)
    _refuse_no_reference(correctness)
    lacking = missing(correctness)
    if lacking and not allow_missing:
        raise AnalysisError(
            f"{_describe(lacking)}.",
            where=", ".join(sorted({f"{cells.model} on {cells.benchmark}" for cells in lacking})),
            fix="run the workflow again to ask what is missing, or set allow_missing to analyse "
            "the rest.",
        )
    return correctness


def _refuse_no_reference(correctness: Correctness) -> None:
    for benchmark in correctness.benchmarks:
        items = correctness.benchmark_of == benchmark
        if not correctness.applicable[items, correctness.reference].any():
            raise AnalysisError(
                f"no item can be asked under the reference configuration "
                f"{correctness.reference_configuration.key}.",
                where=benchmark,
                fix="choose a reference that every benchmark supports.",
            )


def missing(correctness: Correctness) -> list[MissingCells]:
    """Return what is missing, shard by shard and configuration by configuration."""
    cells = []
    for m, model in enumerate(correctness.models):
        for benchmark in correctness.benchmarks:
            chosen = correctness.benchmark_of == benchmark
            statuses = correctness.statuses[m, chosen]
            if (statuses == ABSENT).all():
                cells.append(MissingCells(model, benchmark, None, int(statuses.size), "absent"))
                continue
            for c, configuration in enumerate(correctness.configurations):
                for status in sorted(MISSING_STATUSES):
                    count = int((statuses[:, c] == _STATUS_CODE[status]).sum())
                    if count:
                        cells.append(
                            MissingCells(model, benchmark, configuration.key, count, status)
                        )
    return cells


def _describe(lacking: Sequence[MissingCells]) -> str:
    absent = [cells for cells in lacking if cells.configuration is None]
    failed = sum(cells.n for cells in lacking if cells.configuration is not None)
    parts = [f"no shard for {cells.model} on {cells.benchmark}" for cells in absent]
    if failed:
        parts.append(f"{failed} observations have no answer (oom or backend_error)")
    return "; ".join(parts)


@dataclass(frozen=True)
class _Rows:
    """One shard as arrays; rows in order of item id."""

    items: tuple[Item, ...]
    values: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
    statuses: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
    slots: np.ndarray[tuple[int, ...], np.dtype[np.int8]]
    gold_slots: np.ndarray[tuple[int, ...], np.dtype[np.int8]]


def _read(shard: Shard, observers: Sequence[Observer]) -> _Rows:
    manifest = shard.manifest
    keys = ways(manifest.configurations)
    items: list[Item] = []
    cells: list[list[tuple[int, int, int, int]]] = []
    for record in shard.records():
        _check(record, shard)
        for observer in observers:
            observer(manifest, record)
        items.append(
            Item(
                record.benchmark,
                record.item_id,
                record.cluster,
                record.subject,
                len(record.options),
            )
        )
        cells.append([_encode(record.observations[key], record.gold) for key in keys])
    codes = np.array(cells, np.int16)
    return _Rows(
        tuple(items),
        codes[..., 0].astype(np.uint8),
        codes[..., 1].astype(np.uint8),
        codes[..., 2].astype(np.int8),
        codes[..., 3].astype(np.int8),
    )


def _check(record: Record, shard: Shard) -> None:
    if (record.model, record.benchmark) != cell(shard):
        raise AnalysisError(
            f"item {record.item_id} belongs to {record.model} on {record.benchmark}, the manifest "
            f"says {' on '.join(cell(shard))}.",
            where=shard.folder,
        )
    strange = set(record.observations) ^ set(shard.manifest.configurations)
    if strange:
        raise AnalysisError(
            f"item {record.item_id}: the record and the manifest's legend disagree on the "
            f"configurations {', '.join(sorted(strange))}.",
            where=shard.folder,
        )


def _encode(observation: Observation, gold: int) -> tuple[int, int, int, int]:
    slot = gold_slot = -1
    if observation.order is not None:
        gold_slot = observation.order.index(gold)
        if observation.choice is not None:
            slot = observation.order.index(observation.choice)
    return code_of(observation), _STATUS_CODE[observation.status], slot, gold_slot


def _common_items(shards: Sequence[Shard], read: Sequence[_Rows]) -> tuple[Item, ...]:
    """Return all items, after every shard of a benchmark turned out to hold the same ones."""
    first: dict[str, int] = {}
    for number, (shard, rows) in enumerate(zip(shards, read, strict=True)):
        benchmark = shard.manifest.benchmark
        base = first.setdefault(benchmark, number)
        strange = sorted(
            {item.item_id for item in rows.items} ^ {item.item_id for item in read[base].items}
        )
        if strange:
            raise AnalysisError(
                f"{shards[base].folder} and {shard.folder} hold different items of {benchmark}: "
                f"{len(strange)} occur in one only, such as {', '.join(strange[:3])}.",
                fix="collect every model on one snapshot of the benchmark.",
            )
        if not np.array_equal(rows.gold_slots, read[base].gold_slots):
            _refuse_orders(shards[base], shard, read[base], rows)
    return tuple(item for benchmark in sorted(first) for item in read[first[benchmark]].items)


def _refuse_orders(base: Shard, shard: Shard, base_rows: _Rows, rows: _Rows) -> None:
    both = (rows.gold_slots >= 0) & (base_rows.gold_slots >= 0)
    differs = (both & (rows.gold_slots != base_rows.gold_slots)).any(axis=1)
    if differs.any():
        item = rows.items[int(np.argmax(differs))].item_id
        raise AnalysisError(
            f"{base.folder} and {shard.folder} showed the options of item {item} in different "
            "orders under one name.",
            fix="collect every shard with the same grid.",
        )


def _assemble(
    shards: Sequence[Shard], read: Sequence[_Rows], items: tuple[Item, ...], apart: Apart
) -> Correctness:
    manifest = shards[0].manifest
    keys = ways(manifest.configurations)
    asked = [manifest.configurations[key] for key in keys]
    generated = {way["format"] for way in asked if way["scoring"] == "gen"}
    models = sorted({shard.manifest.model for shard in shards})
    benchmark_of = np.array([item.benchmark for item in items])
    shape = (len(models), len(items), len(asked))
    values = np.full(shape, MISSING, np.uint8)
    statuses = np.full(shape, ABSENT, np.uint8)
    slots = np.full(shape, -1, np.int8)
    gold_slots = np.full(shape[1:], -1, np.int8)
    for shard, rows in zip(shards, read, strict=True):
        m = models.index(shard.manifest.model)
        chosen = benchmark_of == shard.manifest.benchmark
        values[m, chosen], statuses[m, chosen] = rows.values, rows.statuses
        slots[m, chosen] = rows.slots
        gold_slots[chosen] = np.maximum(gold_slots[chosen], rows.gold_slots)
    return Correctness(
        models=tuple(models),
        items=items,
        configurations=tuple(Configuration(w["scoring"], w["format"], w["order"]) for w in asked),
        reference=keys.index(manifest.reference),
        values=values,
        statuses=statuses,
        slots=slots,
        gold_slots=gold_slots,
        labels={
            name: label_kind(kind)
            for name, kind in sorted(manifest.labels.items())
            if name in generated
        },
        synthetic=any(shard.manifest.provenance.get("synthetic") is True for shard in shards),
        apart=apart,
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
