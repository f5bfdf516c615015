"""From shard folders to `Correctness`, refusing what must not be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.errors import AnalysisError
from assay.leaderboard.apart import Gatherer
from assay.leaderboard.comparable import comparable_cells
from assay.leaderboard.correctness import ABSENT, Correctness
from assay.leaderboard.shard_table import ShardTable, refuse_foreign
from assay.records.columns import Columns, read_columns
from assay.records.manifest import Manifest
from assay.records.schema import MISSING as MISSING_STATUSES
from assay.records.schema import STATUSES
from assay.records.shard import read_shard

#: Called once for each shard, while they are read.
Observer = Callable[[Manifest, Columns], None]

_FAILED = {status: STATUSES.index(status) for status in sorted(MISSING_STATUSES)}


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
        Sees the manifest and the columns of every shard as it passes by.

    Raises
    ------
    AnalysisError
        If there is nothing to read; two shards cover the same model and benchmark; shards of one
        benchmark hold different items, or any two were asked under different configurations or
        orders (both are named); or something is missing and `allow_missing` is false.
    RecordError
        If a shard is torn, altered or incomplete.
    """
    cells = comparable_cells(folders)
    gatherer = Gatherer()
    observers: list[Observer] = [gatherer]
    if observer is not None:
        observers.append(observer)
    table = ShardTable(cells)
    for one in cells:
        shard = read_shard(one.folder)
        columns = read_columns(shard)
        refuse_foreign(columns, shard)
        table.add(shard, columns)
        for watching in observers:
            watching(shard.manifest, columns)
    correctness = table.correctness(gatherer)
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
            counts = [(statuses == code).sum(axis=0) for code in _FAILED.values()]
            for c, s in np.argwhere(np.transpose(counts)).tolist():
                key, status = correctness.configurations[c].key, list(_FAILED)[s]
                cells.append(MissingCells(model, benchmark, key, int(counts[s][c]), status))
    return cells


def _describe(lacking: Sequence[MissingCells]) -> str:
    absent = [cells for cells in lacking if cells.configuration is None]
    failed = sum(cells.n for cells in lacking if cells.configuration is not None)
    parts = [f"no shard for {cells.model} on {cells.benchmark}" for cells in absent]
    if failed:
        parts.append(f"{failed} observations have no answer (oom or backend_error)")
    return "; ".join(parts)
