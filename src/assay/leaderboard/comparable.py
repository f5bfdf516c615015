"""Which shards may stand in one analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import AnalysisError
from assay.records.manifest import Manifest, read_manifest
from assay.records.shard import MANIFEST


@dataclass(frozen=True)
class Cell:
    """A shard's place in the grid of models and benchmarks.

    Attributes
    ----------
    folder : Path
    model, benchmark : str
    rows : int
        Its records.
    manifest : Manifest
        Of the first cell: all others were asked in the same ways, and 20,000 manifests are not
        held at once.
    """

    folder: Path
    model: str
    benchmark: str
    rows: int
    manifest: Manifest


def comparable_cells(folders: Sequence[Path]) -> list[Cell]:
    """Return the cells of shards, sorted by model and benchmark.

    Parameters
    ----------
    folders : sequence of Path
        In any order.

    Raises
    ------
    AnalysisError
        If there are none, two cover one cell, or two were asked in different ways.
    RecordError
        If a shard has no manifest, or one that cannot be read.
    """
    if not folders:
        raise AnalysisError("there are no shards to analyse.", fix="name at least one folder.")
    first = read_manifest(folders[0] / MANIFEST)
    cells = [_cell(folder, folders[0], first) for folder in folders]
    cells.sort(key=lambda cell: (cell.model, cell.benchmark))
    for one, two in zip(cells, cells[1:], strict=False):
        if (one.model, one.benchmark) == (two.model, two.benchmark):
            raise AnalysisError(
                f"{one.folder} and {two.folder} both hold {one.model} on {one.benchmark}.",
                fix="give one shard for each model and benchmark.",
            )
    return cells


def _cell(folder: Path, base: Path, first: Manifest) -> Cell:
    manifest = read_manifest(folder / MANIFEST)
    for what in ("configurations", "reference", "labels"):
        if getattr(manifest, what) != getattr(first, what):
            raise AnalysisError(
                f"{base} and {folder} differ in their {what}.",
                fix="collect every shard with the same grid.",
            )
    return Cell(folder, manifest.model, manifest.benchmark, manifest.rows, first)
