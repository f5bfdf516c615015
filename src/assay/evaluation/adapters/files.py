"""JSON as runners write it: with a byte order mark, with NaN, cut off, or nested without end."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.inputs import Inputs

_BOM = b"\xef\xbb\xbf"
#: A line longer than this is no record of an evaluation.
_LONGEST = 1 << 28
_HEAD = 1 << 16
#: Files of a folder, or lines of a file, that are looked at to see whose they are.
LOOKED_AT = 20


def parse(text: bytes, where: str) -> Any:
    """Return a JSON value; NaN and infinities, which some runners write, are let through.

    Raises
    ------
    EvaluationError
        If it is no JSON.
    """
    text = text.removeprefix(_BOM)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        problem = str(error)
    try:
        value = json.loads(text)
        # Half a surrogate pair is let in by `json`, and is no text that could be written again.
        json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        raise EvaluationError(f"this is no JSON ({problem}).", where=where) from error


def parse_object(text: bytes, where: str) -> dict[str, Any]:
    """Return a JSON object.

    Raises
    ------
    EvaluationError
        If it is none.
    """
    value = parse(text, where)
    if not isinstance(value, dict):
        raise EvaluationError("this is no JSON object.", where=where)
    return value


def read(path: Path, inputs: Inputs) -> bytes:
    """Return a file's bytes, and note it in `inputs`.

    Raises
    ------
    EvaluationError
        If it cannot be read.
    """
    with inputs.open(path) as file:
        return file.read()


def lines(path: Path, inputs: Inputs) -> Iterator[tuple[str, bytes]]:
    """Yield (``file:line``, bytes) of every line that is not blank; note the file in `inputs`.

    Raises
    ------
    EvaluationError
        If the file cannot be read, or a line is longer than 256 MiB.
    """
    with inputs.open(path) as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            where = f"{path}:{number}"
            if len(line) == _LONGEST:
                raise EvaluationError("this line has over 256 MiB.", where=where)
            text = (line.removeprefix(_BOM) if number == 1 else line).strip()
            if text:
                yield where, text


def first_object(path: Path) -> dict[str, Any]:
    """Return the first line of a file as a JSON object, or an empty one where it is none."""
    try:
        with path.open("rb") as file:
            line = file.readline(_LONGEST).removeprefix(_BOM).strip()
        value = json.loads(line)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def head(path: Path) -> bytes:
    """Return the first 64 KiB of a file, nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD).removeprefix(_BOM)
    except OSError:
        return b""


def number(value: Any) -> float | None:
    """Return a number as a float; None for anything else, NaN among it."""
    if isinstance(value, bool | int | float) and value == value:
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def measure(value: Any, field: str, where: str) -> float | None:
    """Return a number that a runner states; None where it states none.

    Raises
    ------
    EvaluationError
        If it is something else, or not finite.
    """
    if value is None:
        return None
    found = None if isinstance(value, bool) else number(value)
    if found is None or not math.isfinite(found):
        raise EvaluationError(f"{field} is {str(value)[:40]!r}, not a number.", where=where)
    return found


def score(value: Any, field: str, where: str) -> float | None:
    """Return a score, of any sign; None for NaN, by which runners mean that nothing was scored.

    Raises
    ------
    EvaluationError
        If it is no number, or infinite.
    """
    if value is None or value != value:
        return None
    return measure(float(value) if isinstance(value, bool) else value, field, where)


def count(value: Any) -> int | None:
    """Return a whole number, None where there is none."""
    found = number(value)
    return int(found) if found is not None and found.is_integer() else None


def listed(value: Any, field: str, where: str) -> list[Any]:
    """Return a list that a runner states; an empty one where it states none.

    Raises
    ------
    EvaluationError
        If it is something else.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise EvaluationError(f"`{field}` is no list.", where=where)
    return value


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def moment(value: Any, where: str) -> datetime | None:
    """Return a time; without a zone it is read as UTC, so that old and new files compare.

    Raises
    ------
    EvaluationError
        If it is a text that is no time of ISO 8601.
    """
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise EvaluationError(f"{value!r} is no time of ISO 8601.", where=where) from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def elapsed_ms(span: Any, where: str) -> float | None:
    """Return the milliseconds between ``started_at`` and ``finished_at``, None if unknown.

    Raises
    ------
    EvaluationError
        If it ended before it began.
    """
    begun = moment(mapping(span).get("started_at"), where)
    ended = moment(mapping(span).get("finished_at"), where)
    if begun is None or ended is None:
        return None
    found = (ended - begun).total_seconds() * 1000
    if found < 0:
        raise EvaluationError("finished_at lies before started_at.", where=where)
    return round(found, 3)
