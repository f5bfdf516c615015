"""Shards: written whole, read only after their manifest agrees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from assay.core.errors import RecordError
from assay.core.files import atomic_path, read_jsonl, write_jsonl
from assay.core.identity import sha256_text
from assay.core.seal import DataFile
from assay.core.validation import first_problem
from assay.records.manifest import (
    Manifest,
    count_statuses,
    read_manifest,
    write_manifest,
)
from assay.records.schema import Record

RECORDS = "records.jsonl"
PROMPTS = "prompts.parquet"
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A full prompt as it was sent, or the stem of a likelihood configuration."""

    item_id: str
    configuration: str
    text: str


def write_shard(
    folder: Path,
    records: Sequence[Record],
    prompts: Sequence[Prompt],
    facts: Mapping[str, Any],
) -> Manifest:
    """Write records, prompts and, last, the manifest that makes them count.

    Parameters
    ----------
    records : sequence of Record
        Of one model and benchmark; written sorted by item id.
    prompts : sequence of Prompt
        Go to a zstd-compressed parquet sidecar, sorted by item and configuration.
    facts : mapping
        The fields of `Manifest` that do not follow from the records.

    Raises
    ------
    RecordError
        If there are no records or two share an item id.
    """
    ordered = sorted(records, key=lambda record: record.item_id)
    _refuse_duplicates(ordered, folder)
    # An old manifest must not vouch for new data if this process dies between the files.
    (folder / MANIFEST).unlink(missing_ok=True)
    write_jsonl(folder / RECORDS, (record.model_dump(mode="json") for record in ordered))
    _write_prompts(folder / PROMPTS, prompts)
    manifest = Manifest(
        rows=len(ordered),
        complete=True,
        files={name: DataFile.of(folder / name) for name in (PROMPTS, RECORDS)},
        statuses=count_statuses(ordered),
        **facts,
    )
    write_manifest(folder / MANIFEST, manifest)
    return manifest


def _refuse_duplicates(records: Sequence[Record], folder: Path) -> None:
    if not records:
        raise RecordError("a shard needs at least one record.", where=folder)
    for first, second in zip(records, records[1:], strict=False):
        if first.item_id == second.item_id:
            raise RecordError(f"item {first.item_id} occurs twice.", where=folder)


def _write_prompts(path: Path, prompts: Sequence[Prompt]) -> None:
    rows = sorted(prompts, key=lambda prompt: (prompt.item_id, prompt.configuration))
    table = pa.table(
        {
            "item_id": [row.item_id for row in rows],
            "configuration": [row.configuration for row in rows],
            "sha256": [sha256_text(row.text) for row in rows],
            "prompt": [row.text for row in rows],
        }
    )
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


@dataclass(frozen=True)
class Shard:
    """A verified shard: `manifest`, and `records()` that reads lazily."""

    folder: Path
    manifest: Manifest

    def records(self) -> Iterator[Record]:
        """Yield the records in order of item id.

        Raises
        ------
        RecordError
            If a line is not a record (names file and line).
        """
        path = self.folder / RECORDS
        for number, value in read_jsonl(path):
            try:
                yield Record.model_validate(value)
            except ValidationError as error:
                raise RecordError(
                    f"not a record: {first_problem(error)}.", where=f"{path}:{number}"
                ) from error

    def prompts(self) -> dict[tuple[str, str], str]:
        """Return (item id, configuration key) → full prompt text."""
        table = pq.read_table(self.folder / PROMPTS).to_pydict()
        keys = zip(table["item_id"], table["configuration"], strict=True)
        return dict(zip(keys, table["prompt"], strict=True))


def read_shard(folder: Path) -> Shard:
    """Open the shard in `folder` after its files agree with its manifest.

    Raises
    ------
    RecordError
        If the manifest is missing or incomplete, or a file is missing, truncated or edited
        (the message names it).
    """
    manifest = read_manifest(folder / MANIFEST)
    for name, described in manifest.files.items():
        described.verify(folder / name)
    return Shard(folder, manifest)
