"""From pinned sources to the items that may be asked, with a count for everything left out."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.benchmarks import sources
from assay.benchmarks.adapters import adapt
from assay.benchmarks.adapters.draft import Draft, value
from assay.benchmarks.clusters import clusters, duplicate_flags
from assay.benchmarks.item import Item, accepted
from assay.benchmarks.sources import Row
from assay.benchmarks.spec import BenchmarkSpec
from assay.benchmarks.traps import FLAGS, option_flags
from assay.core.errors import SnapshotError
from assay.core.pins import Pin


@dataclass(frozen=True)
class Prepared:
    """Everything a benchmark has to ask.

    Attributes
    ----------
    rows : int
        Rows of the source.
    drafts : list of Draft
        What may be asked, in source order.
    items : dict
        native id → item, for `drafts`.
    fewshot : list of Draft or None
        Candidates for the few-shot pool, where they come from a source of their own.
    exclusions : dict
        Reason → number of rows or items left out.
    """

    rows: int
    drafts: list[Draft]
    items: dict[str, Item]
    fewshot: list[Draft] | None
    exclusions: dict[str, int]


def prepare(spec: BenchmarkSpec, *, cache: Path, offline: bool) -> Prepared:
    """Read, clean, flag and filter the items of `spec`.

    Duplicates are looked for before anything is excluded, so that a flag does not depend on what
    else was left out.

    Raises
    ------
    SourceError
        If a source is missing or altered.
    SnapshotError
        If a row is malformed, ids repeat, or nothing is left.
    """
    excluded: Counter[str] = Counter()
    rows = list(sources.read_rows(spec.source, cache, offline))
    drafts = adapt(spec, _filtered(rows, spec, excluded))
    others: dict[str, list[Draft]] = {
        split: _elsewhere(spec.model_copy(update={"split": split}), pin, cache, offline)
        for split, pin in spec.compare.items()
    }
    cluster_of = clusters(drafts)
    shared = duplicate_flags(drafts, others)
    kept: list[Draft] = []
    items: dict[str, Item] = {}
    for draft in drafts:
        item = to_item(spec, draft, cluster_of[draft.native_id], shared[draft.native_id])
        if reason := _reason_to_exclude(item, spec):
            excluded[reason] += 1
            continue
        kept.append(draft)
        items[draft.native_id] = item
    if not kept:
        raise SnapshotError(
            f"benchmark {spec.key!r} has no items: {len(rows)} rows were read and"
            f" {sum(excluded.values())} left out {dict(excluded)}.",
            where=spec.key,
            fix="check the source, `filters`, `exclude` and `option_counts`.",
        )
    fewshot = None if spec.fewshot is None else _elsewhere(spec, spec.fewshot, cache, offline)
    return Prepared(len(rows), kept, items, fewshot, dict(sorted(excluded.items())))


def to_item(spec: BenchmarkSpec, draft: Draft, cluster: str, shared: Iterable[str] = ()) -> Item:
    """Return the item of a draft with all its flags, in the order of `FLAGS`."""
    earned = {*draft.flags, *shared, *option_flags(draft.options, draft.gold)}
    return Item(
        benchmark=spec.name,
        native_id=draft.native_id,
        question=draft.question,
        options=draft.options,
        gold=draft.gold,
        accepts=accepted(draft.options, draft.gold),
        subject=draft.subject,
        cluster=cluster,
        flags=tuple(flag for flag in FLAGS if flag in earned),
        aliases=draft.aliases,
        before=draft.before,
    )


def _elsewhere(spec: BenchmarkSpec, pin: Pin, cache: Path, offline: bool) -> list[Draft]:
    rows = sources.read_rows(pin, cache, offline)
    return adapt(spec, _filtered(rows, spec, Counter()))


def _filtered(rows: Iterable[Row], spec: BenchmarkSpec, excluded: Counter[str]) -> list[Row]:
    kept = []
    for where, row in rows:
        for column, pattern in spec.filters.items():
            if not fnmatch.fnmatchcase(str(value(row, column, where)), pattern):
                excluded[f"filter {column}={pattern}"] += 1
                break
        else:
            kept.append((where, row))
    return kept


def _reason_to_exclude(item: Item, spec: BenchmarkSpec) -> str:
    if spec.option_counts is not None and len(item.options) not in spec.option_counts:
        return f"{len(item.options)} options"
    return next((f"flag {flag}" for flag in item.flags if flag in spec.exclude), "")
