"""A user's own items: any column names, answers as position, label or text."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.benchmarks.adapters.draft import (
    Draft,
    index,
    position,
    text,
    texts,
    value,
    with_content_ids,
)
from assay.benchmarks.sources.rows import Location, Row
from assay.benchmarks.spec import BenchmarkSpec, Columns
from assay.core.errors import SnapshotError


def generic(spec: BenchmarkSpec, rows: Sequence[Row]) -> Iterator[Draft]:
    """Yield one draft a row, read by `spec.columns`."""
    columns = spec.columns

    def drafts() -> Iterator[Draft]:
        for where, row in rows:
            options = _options(row, columns, where)
            yield Draft(
                where=where,
                native_id=_name(row, columns.id, where),
                question=text(row, columns.question, where),
                options=options,
                gold=_gold(row, options, columns, where),
                subject=_name(row, columns.subject, where) or "all",
            )

    return with_content_ids(drafts())


def _name(row: Mapping[str, Any], column: str | None, where: Location) -> str:
    """Return an id or subject, which may be a number; empty where no column is named."""
    if column is None:
        return ""
    found = value(row, column, where)
    if isinstance(found, bool) or not isinstance(found, str | int) or str(found).strip() == "":
        raise SnapshotError(
            f"column {column!r} holds {found!r}, which is no name.",
            where=str(where),
            fix="fill the column for every row, or leave it out of `columns`.",
        )
    return str(found)


def _options(row: Mapping[str, Any], columns: Columns, where: Location) -> tuple[str, ...]:
    if isinstance(columns.options, str):
        return texts(row, columns.options, where)
    found = [value(row, column, where) for column in columns.options]
    while found and (found[-1] is None or found[-1] == ""):
        found.pop()
    for column, option in zip(columns.options, found, strict=False):
        if not isinstance(option, str):
            raise SnapshotError(
                f"column {column!r} holds {option!r}, not a text.",
                where=str(where),
                fix="quote the value; options are texts.",
            )
    return tuple(found)


def _gold(
    row: Mapping[str, Any], options: tuple[str, ...], columns: Columns, where: Location
) -> int:
    answer = value(row, columns.answer, where)
    if columns.answer_kind == "index":
        return index(answer, where)
    if columns.answer_kind == "text":
        return position(answer, [option.strip() for option in options], where)
    labels = (
        texts(row, columns.labels, where)
        if columns.labels
        else tuple(string.ascii_uppercase[: len(options)])
    )
    return position(answer, labels, where)
