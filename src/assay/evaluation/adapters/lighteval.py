"""lighteval: `details_*.parquet`, a row a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import LOOKED_AT, mapping
from assay.evaluation.adapters.files import score as as_score
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord

_NAME = re.compile(r"details_(?P<task>.+?)_\d{4}-\d{2}-\d{2}T[0-9:.\-]+\.parquet")
_COLUMNS = ("doc", "metric", "model_response")
_BATCH = 256


class Lighteval:
    """Details of one task a file, read a few hundred rows at a time."""

    name: ClassVar[str] = "lighteval"

    def sniff(self, path: Path) -> bool:
        """Return whether one of the first parquets has the columns of lighteval's details."""
        return any(map(_is_details, islice(_files(path), LOOKED_AT)))

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield one record a row."""
        for place in _files(path):
            reading.files += 1
            label = place.relative_to(path).as_posix() if path.is_dir() else place.name
            match = _NAME.fullmatch(place.name)
            task = match["task"] if match else place.stem
            with reading.part():
                reading.inputs.add(place)
                for k, row in enumerate(_rows(place)):
                    with reading.part():
                        yield _record(row, task, label, f"{place}: row {k}", reading)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(path.rglob("details_*.parquet"))
    elif path.suffix == ".parquet":
        yield path


def _is_details(place: Path) -> bool:
    try:
        return set(_COLUMNS) <= set(pq.read_schema(place).names)
    except (OSError, ValueError, pa.ArrowException):
        return False


def _rows(place: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with pq.ParquetFile(place) as file:
            if lacking := sorted(set(_COLUMNS) - set(file.schema_arrow.names)):
                raise EvaluationError(f"there is no column {lacking[0]!r}.", where=place)
            for batch in file.iter_batches(_BATCH, columns=list(_COLUMNS)):
                yield from batch.to_pylist()
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise EvaluationError(f"this is no whole parquet ({reason}).", where=place) from error


def _record(
    row: Mapping[str, Any], task: str, label: str, where: str, reading: Reading
) -> EvaluationRecord:
    doc, response = mapping(row["doc"]), mapping(row["model_response"])
    metrics = {name: value for name, value in mapping(row["metric"]).items() if value is not None}
    metric = reading.options.metric or (next(iter(metrics)) if len(metrics) == 1 else None)
    if metric not in metrics:
        raise EvaluationError(
            f"there is no metric {metric!r}." if metric else "there are several metrics.",
            where=where,
            fix=f"choose of {', '.join(metrics)} as `metric`.",
        )
    score = as_score(metrics[metric], str(metric), where)
    read_, made = _tokens(response.get("input_tokens")), _tokens(response.get("output_tokens"))
    name = str(doc.get("task_name") or task)
    return reading.record(
        where,
        task_id=reading.task(f"{name}/{doc.get('id')}", row, where),
        task_area=name,
        capability_tags=(name,),
        score=score,
        input_tokens=read_,
        output_tokens=made,
        total_tokens=None if read_ is None or made is None else read_ + made,
        result_path=label,
        **reading.failure(Facts(judged=score is not None, passed=reading.passed(score))),
    )


def _tokens(value: Any) -> int | None:
    """Return the number of tokens of one or several sequences; None where none are kept."""
    if not isinstance(value, list) or not value:
        return None
    return sum(len(part) if isinstance(part, list) else 1 for part in value)
