"""The journal: answers are on disk before anything is made of them.

One canonical JSON line per observation, appended and fsynced a batch at a time. A killed job loses
at most the batch it was computing. The journal is keyed by content, so that it survives edits of
code that change nothing, and reverts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.core.errors import RecordError
from assay.core.identity import canonical_json, digest

_CHECK = "check"


def _line(entry: Mapping[str, Any]) -> bytes:
    body = dict(entry)
    body[_CHECK] = digest(body, length=8)
    return canonical_json(body).encode("utf-8") + b"\n"


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the entry in `line`, or None if it is torn or altered."""
    try:
        body = json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    if not isinstance(body, dict) or not isinstance(body.get("key"), str):
        return None
    check = body.pop(_CHECK, None)
    return body if check == digest(body, length=8) else None


class Journal:
    """An append-only file of answers, keyed by observation key.

    Parameters
    ----------
    path : Path
        Created on first append. A torn last line (a crash while writing) is cut off when the
        journal is opened; a damaged line in the middle is refused.
    guard : callable, optional
        Called before every write; raises if this process may not write any more.

    Raises
    ------
    RecordError
        On a damaged line that is not the last (names file and line), or when the disk is full.
    """

    def __init__(self, path: Path, *, guard: Callable[[], None] | None = None):
        self.path = path
        self._guard = guard
        self._entries: dict[str, dict[str, Any]] = {}
        self._load()

    def _load(self) -> None:
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        good = 0
        lines = data.split(b"\n")
        for number, line in enumerate(lines, start=1):
            terminated = number < len(lines)
            entry = _parse(line) if line else None
            if entry is not None and terminated:
                self._entries[entry["key"]] = entry
                good += len(line) + 1
            elif line and number < len(lines) - 1:
                raise RecordError(
                    "damaged journal line.",
                    where=f"{self.path}:{number}",
                    fix="restore the file, or delete this line to have its observation asked anew.",
                )
        if good < len(data):
            self._cut(good)

    def _cut(self, size: int) -> None:
        with self.path.open("r+b") as stream:
            stream.truncate(size)
            os.fsync(stream.fileno())

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the entries, one a key, in the order of their first writing."""
        return iter(self._entries.values())

    def get(self, key: str) -> dict[str, Any]:
        """Return the entry stored under `key`; the latest wins where it was asked twice."""
        return self._entries[key]

    def append(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Write entries (each with a string "key") and fsync once; all or nothing on error."""
        batch = [dict(entry) for entry in entries]
        if self._guard is not None:
            self._guard()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        before = self.path.stat().st_size if self.path.exists() else 0
        try:
            with self.path.open("ab") as stream:
                stream.write(b"".join(_line(entry) for entry in batch))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            if self.path.exists():
                self._cut(before)
            raise RecordError(
                f"cannot write the journal: {error.strerror or error}.",
                where=self.path,
                fix="free some space and run again; everything answered so far is kept.",
            ) from error
        for entry in batch:
            self._entries[entry["key"]] = entry
