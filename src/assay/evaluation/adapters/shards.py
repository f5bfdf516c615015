"""Our own shards: one record for each item and configuration.

The tags say what a question is about and how it was asked, so that a subject, but also digits as
labels, an order of the options or a kind of scoring, can be what a model is weak at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import AssayError, EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord
from assay.records.manifest import Manifest
from assay.records.schema import MISSING, NOT_APPLICABLE, Observation, Record
from assay.records.shard import read_shard

_MANIFEST, _RECORDS = "manifest.json", "records.jsonl"
#: Statuses of answers from which no label could be read → the failure's code.
_CODES = {"refusal": "AGENT_REFUSED", "too_long": "CONTEXT_EXHAUSTED"}


class Shards:
    """Verified shards below a folder; a missing observation is no verdict, never a failure."""

    name: ClassVar[str] = "assay"

    def sniff(self, path: Path) -> bool:
        """Return whether a folder holds a shard."""
        return next(_folders(path), None) is not None

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield the records of every shard, in the order of items and configurations."""
        for folder in _folders(path):
            reading.files += 1
            label = folder.relative_to(path).as_posix()
            with reading.part():
                yield from _shard(folder, f"{label}/{_RECORDS}", reading)


def _folders(path: Path) -> Iterator[Path]:
    if path.is_dir():
        manifests = sorted(path.rglob(_MANIFEST))
        yield from (m.parent for m in manifests if m.with_name(_RECORDS).is_file())


def _shard(folder: Path, label: str, reading: Reading) -> Iterator[EvaluationRecord]:
    try:
        shard = read_shard(folder)
        reading.inputs.add(folder / _MANIFEST)
        reading.inputs.files |= {folder / name: f for name, f in shard.manifest.files.items()}
        for record in shard.records():
            with reading.part():
                yield from _records(record, shard.manifest, label, reading)
    except AssayError as error:
        raise EvaluationError(error.what, where=error.where, fix=error.fix) from error


def _records(
    record: Record, manifest: Manifest, label: str, reading: Reading
) -> Iterator[EvaluationRecord]:
    for key, seen in sorted(record.observations.items()):
        if seen.status != NOT_APPLICABLE:
            if {"scoring", "format"} - set(way := manifest.configurations.get(key, {})):
                raise EvaluationError(
                    f"the manifest does not say what configuration {key!r} is.",
                    where=f"{label}: {record.item_id}",
                )
            yield _record(record, key, seen, way, label, reading)


def _record(
    record: Record,
    key: str,
    seen: Observation,
    way: Mapping[str, Any],
    label: str,
    reading: Reading,
) -> EvaluationRecord:
    where = f"{label}: {record.item_id} {key}"
    made = seen.new_tokens
    read_ = seen.prompt_tokens
    return reading.record(
        where,
        task_id=reading.task(f"{record.benchmark}/{record.item_id}", {}, where),
        trial_id=seen.key,
        variant=key,
        task_area=record.benchmark,
        capability_tags=_tags(record, way),
        score=None if seen.correct is None else float(seen.correct),
        input_tokens=read_,
        output_tokens=made,
        total_tokens=None if read_ is None or made is None else read_ + made,
        result_path=label,
        **_verdict(seen, reading),
    )


def _tags(record: Record, way: Mapping[str, Any]) -> tuple[str, ...]:
    subject = (f"subject:{record.subject}",) if record.subject else ()
    order = (f"order:{way['order']}",) if way.get("order") else ()
    return (*subject, f"scoring:{way['scoring']}", f"format:{way['format']}", *order)


def _verdict(seen: Observation, reading: Reading) -> dict[str, Any]:
    if seen.status in MISSING:
        return {
            "failure_code": "MODEL_PROVIDER_FAILED",
            "failure_class": "infrastructure",
            "classification_source": "runner",
        }
    if not seen.correct and (code := _CODES.get(seen.status)):
        return {
            "success": False,
            "failure_code": code,
            "failure_class": reading.classifier.kind(code),
            "classification_source": "runner",
        }
    return reading.failure(Facts(passed=seen.correct))
