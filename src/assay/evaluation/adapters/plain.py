"""Records as they are, one JSON object a line, or a table of them as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from assay.core.errors import EvaluationError
from assay.core.validation import first_problem
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import first_object, head, lines
from assay.evaluation.record import EvaluationRecord

_FIELDS = EvaluationRecord.model_fields
_TEXTS = {True: {"true", "1", "yes"}, False: {"false", "0", "no"}}
_TRUTHS = {"success", "safety_evaluated", "safety_violation"}
_LONGEST_FIELD = 1 << 24


class PlainRecords:
    """JSON lines of `EvaluationRecord`, in camelCase or snake_case, or CSV with a column a field.

    In CSV an empty cell is unknown, and tags are parted by semicolons.
    """

    name: ClassVar[str] = "records"

    def sniff(self, path: Path) -> bool:
        """Return whether the first line has a task's id and nothing but fields of a record."""
        if not path.is_file():
            return False
        first = _columns(path) if _is_table(path) else list(first_object(path))
        names = {to_snake(name) for name in first}
        return "task_id" in names and names <= set(_FIELDS)

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield the records, line by line."""
        reading.files += 1
        if _is_table(path):
            yield from _table(path, reading)
            return
        for where, text in lines(path, reading.inputs):
            with reading.part():
                yield _finished(_validated(text, where), where, reading)


def _is_table(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _columns(path: Path) -> list[str]:
    first = head(path).split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    return [name.strip().strip('"') for name in first.split(",")]


def _validated(text: bytes, where: str) -> EvaluationRecord:
    try:
        return EvaluationRecord.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise EvaluationError(f"{first_problem(error)}.", where=where) from error


def _table(path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        with reading.inputs.open(path) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            yield from _rows(path, text, reading)
            text.detach()
    except (UnicodeDecodeError, csv.Error) as error:
        raise EvaluationError(f"this is no CSV ({error}).", where=path) from error


def _rows(path: Path, file: Iterable[str], reading: Reading) -> Iterator[EvaluationRecord]:
    rows = csv.reader(file)
    columns = [to_snake(name.strip()) for name in next(rows, [])]
    if strange := [name for name in columns if name not in _FIELDS or name == "trace"]:
        raise EvaluationError(
            f"{strange[0]!r} is no field of a record.",
            where=f"{path}:1",
            fix=f"columns are {', '.join(name for name in _FIELDS if name != 'trace')}.",
        )
    for row in rows:
        where = f"{path}:{rows.line_num}"
        with reading.part():
            if row:
                yield _finished(_of_row(columns, row, where, reading), where, reading)


def _of_row(columns: list[str], row: list[str], where: str, reading: Reading) -> EvaluationRecord:
    if len(row) != len(columns):
        raise EvaluationError(f"{len(row)} cells, {len(columns)} columns.", where=where)
    cells = {name: _cell(name, text) for name, text in zip(columns, row, strict=True) if text}
    return reading.record(where, **cells)


def _cell(name: str, text: str) -> Any:
    if name == "capability_tags":
        return tuple(part.strip() for part in text.split(";") if part.strip())
    if name in _TRUTHS:
        return next((truth for truth, texts in _TEXTS.items() if text.lower() in texts), text)
    return text


def _finished(record: EvaluationRecord, where: str, reading: Reading) -> EvaluationRecord:
    """Return the record with what the options say, and the kind of its failure."""
    said: dict[str, Any] = {}
    if reading.options.variant is not None:
        said["variant"] = reading.options.variant
    if reading.options.task_id is not None:
        said["task_id"] = reading.task(record.task_id, record.model_dump(by_alias=True), where)
    if record.failure_code is not None and record.failure_class is None:
        said["failure_class"] = reading.classifier.kind(record.failure_code)
        said["classification_source"] = "runner"
    return record.model_copy(update=said) if said else record
