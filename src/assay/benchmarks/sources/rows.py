"""Where a row came from, so that every error can name it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Location(NamedTuple):
    """A row's place in its source; sorts in source order.

    Attributes
    ----------
    file : str
        A user's path, ``archive!member``, or a path inside a repository.
    row : int
        Position in the file, from 0.
    line : int
        Line number from 1 in a text file; 0 in a table.
    """

    file: str
    row: int
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else f"{self.file} row {self.row}"


Row = tuple[Location, dict[str, Any]]
