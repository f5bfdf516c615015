"""The manifest of a shard: what its reader verifies before it believes a byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.core.errors import RecordError
from assay.core.files import read_json, write_json
from assay.core.seal import DataFile
from assay.core.validation import first_problem
from assay.records.schema import Record

SCHEMA_VERSION = 1


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Manifest(_Frozen):
    """What a shard holds and how it was made.

    Attributes
    ----------
    configurations : dict
        Legend: key → scoring, format, order and permutation (None where it depends on the item).
    labels : dict
        Generation format → kind of labels ("upper" or "digit").
    statuses : dict
        Configuration key → status → number of items.
    spec, code : str
        The declared parameters and code digest that the shard was made with.
    provenance : dict
        Pins, digests of weights, template, tokenizer and snapshot, software versions.
    run : dict
        Facts of this execution (time, tokens, peak memory, host-independent where possible);
        the only part that may differ between two identical runs.
    """

    schema_version: int = SCHEMA_VERSION
    model: str
    benchmark: str
    reference: str
    rows: int
    complete: bool
    files: dict[str, DataFile]
    configurations: dict[str, dict[str, Any]]
    labels: dict[str, str]
    statuses: dict[str, dict[str, int]]
    snapshot_sha256: str
    spec: str = ""
    code: str = ""
    provenance: dict[str, Any]
    run: dict[str, Any] = {}


def count_statuses(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    """Return configuration key → status → number of records with it."""
    counts: dict[str, Counter[str]] = {}
    for record in records:
        for key, observation in record.observations.items():
            counts.setdefault(key, Counter())[observation.status] += 1
    return {key: dict(sorted(counts[key].items())) for key in sorted(counts)}


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write `manifest` as a whole or not at all."""
    write_json(path, manifest.model_dump(mode="json"))


def read_manifest(path: Path) -> Manifest:
    """Return the manifest in `path`.

    Raises
    ------
    RecordError
        If it is missing, not JSON, of another schema version, or not marked complete.
    """
    if not path.is_file():
        raise RecordError("no manifest: this shard was never finished.", where=path)
    value = read_json(path)
    try:
        manifest = Manifest.model_validate(value)
    except ValidationError as error:
        raise RecordError(f"not a shard manifest: {first_problem(error)}.", where=path) from error
    if manifest.schema_version != SCHEMA_VERSION:
        raise RecordError(
            f"schema version {manifest.schema_version}, this version reads {SCHEMA_VERSION}.",
            where=path,
        )
    if not manifest.complete:
        raise RecordError("the shard is not marked complete.", where=path)
    return manifest
