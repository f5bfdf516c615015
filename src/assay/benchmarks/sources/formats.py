"""Rows out of JSON Lines, CSV, parquet and Arrow, each with its place in the file."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from assay.benchmarks.sources.rows import Location, Row
from assay.core.errors import SourceError

_ARROW_FILE_MAGIC = b"ARROW1"


def read_table(stream: IO[bytes], file: str) -> Iterator[Row]:
    """Yield the rows of `stream`, whose format is told by the end of `file`.

    Parameters
    ----------
    stream : binary file
        Seekable for parquet and Arrow.
    file : str
        Name for the rows' locations; ``.gz`` is undone first for text formats.

    Raises
    ------
    SourceError
        If the format is unknown or the content is not of that format (names file and line).
    """
    name = file.lower()
    if name.endswith(".gz"):
        name = name.removesuffix(".gz")
        stream = cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    for suffix, reader in _READERS.items():
        if name.endswith(suffix):
            return reader(stream, file)
    raise SourceError(
        "the format of this file is not known by its name.",
        where=file,
        fix=f"convert it to one of {', '.join(_READERS)} (text also with .gz).",
    )


def _jsonl(stream: IO[bytes], file: str) -> Iterator[Row]:
    row = 0
    try:
        # Only "\n" ends a line: texts of real benchmarks hold Unicode line breaks.
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            yield Location(file, row, number), _json_object(line, f"{file}:{number}")
            row += 1
    except (gzip.BadGzipFile, EOFError) as error:
        raise SourceError(f"the compressed file is broken: {error}.", where=file) from error


def _json_object(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"not valid JSON: {error}.", where=where) from error
    if not isinstance(value, dict):
        raise SourceError("a line must be a JSON object.", where=where)
    return value


def _csv(stream: IO[bytes], file: str) -> Iterator[Row]:
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    reader = csv.DictReader(text, strict=True)
    try:
        for row, value in enumerate(reader):
            if None in value or None in value.values():
                raise SourceError(
                    f"this row does not have {len(reader.fieldnames or ())} columns as the header.",
                    where=f"{file}:{reader.line_num}",
                )
            yield Location(file, row, reader.line_num), dict(value)
    except (csv.Error, UnicodeDecodeError) as error:
        raise SourceError(
            f"not valid CSV in UTF-8: {error}.", where=f"{file}:{reader.reader.line_num}"
        ) from error


def _parquet(stream: IO[bytes], file: str) -> Iterator[Row]:
    try:
        yield from _batches(pq.ParquetFile(stream).iter_batches(), file)
    except pa.ArrowInvalid as error:
        raise SourceError(f"not valid parquet: {error}.", where=file) from error


def _arrow(stream: IO[bytes], file: str) -> Iterator[Row]:
    magic = stream.read(len(_ARROW_FILE_MAGIC))
    stream.seek(0)
    try:
        if magic == _ARROW_FILE_MAGIC:
            yield from _batches(iter(pa.ipc.open_file(stream).read_all().to_batches()), file)
        else:
            yield from _batches(iter(pa.ipc.open_stream(stream)), file)
    except pa.ArrowInvalid as error:
        raise SourceError(f"not valid Arrow: {error}.", where=file) from error


def _batches(batches: Iterator[Any], file: str) -> Iterator[Row]:
    row = 0
    for batch in batches:
        for value in batch.to_pylist():
            yield Location(file, row), value
            row += 1


_READERS: dict[str, Callable[[IO[bytes], str], Iterator[Row]]] = {
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".parquet": _parquet,
    ".arrow": _arrow,
}
