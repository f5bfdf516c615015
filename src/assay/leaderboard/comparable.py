"""Which shards may stand in one analysis."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.errors import AnalysisError
from assay.records.shard import Shard


def cell(shard: Shard) -> tuple[str, str]:
    """Return the model and the benchmark of a shard."""
    return shard.manifest.model, shard.manifest.benchmark


def refuse_incomparable(shards: Sequence[Shard]) -> None:
    """Raise unless every shard is another cell of one grid.

    Parameters
    ----------
    shards : sequence of Shard
        Sorted by model and benchmark.

    Raises
    ------
    AnalysisError
        If there are none, two cover one cell, or two were asked in different ways.
    """
    if not shards:
        raise AnalysisError("there are no shards to analyse.", fix="name at least one folder.")
    for first, second in zip(shards, shards[1:], strict=False):
        if cell(first) == cell(second):
            raise AnalysisError(
                f"{first.folder} and {second.folder} both hold {cell(first)[0]} on "
                f"{cell(first)[1]}.",
                fix="give one shard for each model and benchmark.",
            )
    base = shards[0]
    for shard in shards[1:]:
        for what in ("configurations", "reference", "labels"):
            if getattr(shard.manifest, what) != getattr(base.manifest, what):
                raise AnalysisError(
                    f"{base.folder} and {shard.folder} differ in their {what}.",
                    fix="collect every shard with the same grid.",
                )
