"""Digests of the files that a reading rests on, made while they are read."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from assay.core.errors import EvaluationError
from assay.core.seal import DataFile

_CHUNK = 1 << 20


class _Hashing(io.RawIOBase):
    """A file that adds up what is read from it."""

    def __init__(self, raw: io.FileIO):
        self._raw, self._running, self._bytes = raw, hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        n = self._raw.readinto(view) or 0
        self._running.update(view[:n])
        self._bytes += n
        return n

    def seen(self) -> DataFile:
        return DataFile(bytes=self._bytes, sha256=self._running.hexdigest())


class Inputs:
    """The files that were read.

    Attributes
    ----------
    files : dict
        Path → size and SHA-256 of the whole file.
    """

    def __init__(self) -> None:
        self.files: dict[Path, DataFile] = {}

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """Open a file to be read front to back, once; what is left of it is read at the end.

        Raises
        ------
        EvaluationError
            If it cannot be read.
        """
        try:
            with path.open("rb", buffering=0) as raw:
                hashing = _Hashing(raw)
                stream = io.BufferedReader(hashing, _CHUNK)
                try:
                    yield stream
                except Exception:  # not where a reader is given up: then the rest is not read
                    self._finish(path, hashing, stream)
                    raise
                self._finish(path, hashing, stream)
        except OSError as error:
            raise EvaluationError(f"cannot be read ({error.strerror}).", where=path) from error

    def _finish(self, path: Path, hashing: _Hashing, stream: IO[bytes]) -> None:
        while stream.read(_CHUNK):
            pass
        self.files[path] = hashing.seen()

    def add(self, path: Path) -> None:
        """Note a file that is not read front to back, such as an archive.

        Raises
        ------
        EvaluationError
            If it cannot be read.
        """
        with self.open(path):
            pass
