"""From the rows of a source to drafts of items, one adapter a benchmark family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from assay.benchmarks.adapters.draft import Draft
from assay.benchmarks.adapters.generic import generic
from assay.benchmarks.adapters.hellaswag import CLEANING, hellaswag
from assay.benchmarks.adapters.public import labelled, mmlu, piqa, requests, truthfulqa
from assay.benchmarks.sources.rows import Row
from assay.benchmarks.spec import AdapterName, BenchmarkSpec
from assay.core.errors import SnapshotError

Adapter = Callable[[BenchmarkSpec, Sequence[Row]], Iterator[Draft]]

ADAPTERS: dict[AdapterName, Adapter] = {
    "labelled": labelled,
    "mmlu": mmlu,
    "hellaswag": hellaswag,
    "truthfulqa": truthfulqa,
    "piqa": piqa,
    "requests": requests,
    "generic": generic,
}


def adapt(spec: BenchmarkSpec, rows: Iterable[Row]) -> list[Draft]:
    """Return the checked drafts of `rows` in source order, in whatever order the rows arrive.

    Raises
    ------
    SnapshotError
        If a row is malformed, an id stands for two rows, or this version of the cleaning does not
        exist.
    """
    versions = sorted(CLEANING) if spec.adapter == "hellaswag" else [1]
    if spec.preprocessing not in versions:
        raise SnapshotError(
            f"adapter {spec.adapter!r} has no preprocessing {spec.preprocessing}.",
            where=spec.key,
            fix=f"use one of {versions}.",
        )
    in_order = sorted(rows, key=lambda row: row[0])
    drafts = [draft.cleaned() for draft in ADAPTERS[spec.adapter](spec, in_order)]
    _refuse_repeated_ids(drafts)
    return drafts


def _refuse_repeated_ids(drafts: list[Draft]) -> None:
    seen: dict[str, Draft] = {}
    for draft in drafts:
        if draft.native_id in seen:
            raise SnapshotError(
                f"id {draft.native_id!r} was already used at {seen[draft.native_id].where}.",
                where=str(draft.where),
                fix="give every item an id of its own, or leave `id` out of `columns`.",
            )
        seen[draft.native_id] = draft
