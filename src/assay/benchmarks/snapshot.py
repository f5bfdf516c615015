"""Snapshots: the frozen items of one benchmark, written as a whole and verified when read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.benchmarks import sources
from assay.benchmarks.adapters.draft import Draft
from assay.benchmarks.item import Item
from assay.benchmarks.manifest import Counts, File, Manifest
from assay.benchmarks.prepare import Prepared, prepare, to_item
from assay.benchmarks.selection import by_hash, pool_from, released_spec, select
from assay.benchmarks.spec import BenchmarkSpec, Selection
from assay.core.errors import SnapshotError
from assay.core.files import atomic_path, read_json, read_jsonl
from assay.core.identity import canonical_json, sha256_file
from assay.core.pins import Pin, portable
from assay.core.validation import first_problem

ITEMS, FEWSHOT, MANIFEST = "items.jsonl", "fewshot.jsonl", "manifest.json"


@dataclass(frozen=True)
class Snapshot:
    """A verified snapshot.

    Attributes
    ----------
    items : tuple of Item
        In the order of the selection: a snapshot of fewer items is a prefix of one of more.
    fewshot : tuple of Item
        The pool that examples are taken from; disjoint from the items.
    """

    folder: Path
    manifest: Manifest
    items: tuple[Item, ...]
    fewshot: tuple[Item, ...]

    def provenance(self) -> dict[str, Any]:
        """Return what a record shard keeps of its snapshot."""
        manifest = self.manifest
        return {
            "benchmark": manifest.benchmark,
            "items": manifest.selected.items,
            "items_sha256": manifest.files[ITEMS].sha256,
            "licence": manifest.licence,
            "selection": manifest.selection,
            "sources": manifest.sources,
        }


def build_snapshot(
    spec: BenchmarkSpec, selection: Selection, *, cache: Path, offline: bool, target: Path
) -> Manifest:
    """Freeze the selected items of `spec` in the folder `target`.

    Everything is computed before the first byte is written; the manifest is renamed into place
    last, so that a folder with a manifest that verifies is whole.

    Raises
    ------
    SourceError
        If a source is missing or altered.
    SnapshotError
        If an item is malformed, ids repeat, nothing is left, or too many items are asked for.
    AssayError
        If the disk is full; an older snapshot in `target` stays as it was.
    """
    if selection.rule == "released":
        spec = released_spec(spec)
    prepared = prepare(spec, cache=cache, offline=offline)
    items, pool = _choose(spec, selection, prepared)
    contents = {ITEMS: _lines(items)}
    if selection.pool_size:
        contents[FEWSHOT] = _lines(pool)
    manifest = Manifest(
        benchmark=spec.key,
        name=spec.name,
        title=spec.title,
        licence=spec.licence,
        attribution=spec.attribution,
        spec=_portable(spec),
        selection=selection.identity(),
        sources=_digests(spec, cache, offline),
        rows=prepared.rows,
        excluded=prepared.exclusions,
        available=Counts.of(prepared.items.values()),
        selected=Counts.of(items),
        files={name: _described(content) for name, content in contents.items()},
    )
    _write(target, manifest, contents)
    return manifest


def read_snapshot(folder: Path) -> Snapshot:
    """Return the snapshot in `folder`, after checking every file against the manifest.

    Raises
    ------
    SnapshotError
        If a file is missing, altered or not as long as the manifest says (names the file).
    """
    manifest = verify_snapshot(folder)
    fewshot = _read_items(folder / FEWSHOT) if FEWSHOT in manifest.files else ()
    return Snapshot(folder, manifest, _read_items(folder / ITEMS), fewshot)


def verify_snapshot(folder: Path) -> Manifest:
    """Check the digests of a snapshot and return its manifest.

    Raises
    ------
    SnapshotError
        As `read_snapshot`.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise SnapshotError(
            "there is no complete snapshot here.", where=folder, fix="build it (again)."
        )
    try:
        manifest = Manifest.model_validate(read_json(path))
    except ValidationError as error:
        raise SnapshotError(
            f"not a manifest: {first_problem(error)}.",
            where=path,
            fix="build the snapshot again.",
        ) from error
    for name, file in manifest.files.items():
        _verify(folder / name, file)
    return manifest


def _choose(
    spec: BenchmarkSpec, selection: Selection, prepared: Prepared
) -> tuple[list[Item], list[Item]]:
    """Return the selected items and the few-shot pool."""
    if prepared.fewshot is None:
        items, pool = select(prepared.drafts, selection, where=spec.key)
        return _items(prepared, items), _items(prepared, pool)
    without_pool = selection.model_copy(update={"pool": 0})
    items, _ = select(prepared.drafts, without_pool, where=spec.key)
    pool = pool_from(by_hash(prepared.fewshot, selection), items, selection.pool_size)
    return _items(prepared, items), [to_item(spec, one, one.native_id) for one in pool]


def _items(prepared: Prepared, drafts: Iterable[Draft]) -> list[Item]:
    return [prepared.items[draft.native_id] for draft in drafts]


def _digests(spec: BenchmarkSpec, cache: Path, offline: bool) -> dict[str, dict[str, str]]:
    pins: dict[str, Pin | None] = {"items": spec.source, "fewshot": spec.fewshot}
    pins |= {f"compare {split}": pin for split, pin in spec.compare.items()}
    return {
        role: sources.fetch(pin, cache, offline) for role, pin in pins.items() if pin is not None
    }


def _portable(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return the specification with files named without their folders."""
    moved = spec.model_copy(
        update={
            "source": portable(spec.source),
            "fewshot": None if spec.fewshot is None else portable(spec.fewshot),
            "compare": {split: portable(pin) for split, pin in spec.compare.items()},
        }
    )
    return moved.identity()


def _lines(items: Iterable[Item]) -> bytes:
    return b"".join(canonical_json(item.line()).encode("utf-8") + b"\n" for item in items)


def _described(content: bytes) -> File:
    return File(rows=content.count(b"\n"), bytes=len(content), sha256=sha256(content).hexdigest())


def _write(target: Path, manifest: Manifest, contents: dict[str, bytes]) -> None:
    written = json.dumps(
        manifest.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False
    )
    with ExitStack() as renames:
        # Renamed in reverse order: the manifest comes last.
        for name, content in {MANIFEST: f"{written}\n".encode(), **contents}.items():
            renames.enter_context(atomic_path(target / name)).write_bytes(content)
    if FEWSHOT not in contents:
        (target / FEWSHOT).unlink(missing_ok=True)


def _verify(path: Path, file: File) -> None:
    if not path.is_file():
        raise SnapshotError(
            "this file of the snapshot is missing.", where=path, fix="build the snapshot again."
        )
    size = path.stat().st_size
    if size != file.bytes or sha256_file(path) != file.sha256:
        raise SnapshotError(
            f"this file is not the one the manifest describes ({size} bytes, {file.bytes} expected)"
            " or was edited.",
            where=path,
            fix="build the snapshot again; to change items, change the source.",
        )


def _read_items(path: Path) -> tuple[Item, ...]:
    return tuple(
        Item.from_line(line, where=f"{path}:{number}") for number, line in read_jsonl(path)
    )
