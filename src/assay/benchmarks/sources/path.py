"""A user's own file of items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.benchmarks.sources.rows import Row
from assay.core.errors import SourceError
from assay.core.identity import sha256_file
from assay.core.pins import PathPin


def fetch(pin: PathPin) -> dict[str, str]:
    """Return the file's name and the sha256 of its content."""
    path = _existing(pin)
    return {path.name: sha256_file(path)}


def read_rows(pin: PathPin) -> Iterator[Row]:
    """Yield the rows of the file; its place is given as the user wrote it."""
    from assay.benchmarks.sources.formats import read_table

    with _existing(pin).open("rb") as stream:
        yield from read_table(stream, pin.path)


def _existing(pin: PathPin) -> Path:
    path = Path(pin.path).expanduser()
    if not path.is_file():
        raise SourceError(
            "there is no such file of items.",
            where=pin.path,
            fix="check the path; relative paths start from the folder Assay is run in.",
        )
    return path
