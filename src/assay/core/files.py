"""Files that are either whole or absent, and JSON Lines that name the line they fail on."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from assay.core.errors import AssayError
from assay.core.identity import canonical_json


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it there only if the block succeeds.

    For writers that want a file name (parquet, figures). The file is fsynced before the rename,
    so that after a crash `path` holds either the old content or the whole new one.

    Raises
    ------
    AssayError
        If the disk is full or the folder cannot be written; the temporary file is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays: matplotlib and others choose the file format by it.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise AssayError(
            f"cannot write: {error.strerror or error}",
            where=path,
            fix="free some space or choose another folder; nothing was overwritten.",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def finished_files(folder: Path, *suffixes: str) -> list[Path]:
    """Return the files of `folder` with one of `suffixes`, by name.

    What a killed writer left half-written has a name that begins with a dot, and is none of them.
    """
    found = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(path for path in found if path.suffix in suffixes)


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Yield a binary stream whose content appears at `path` as a whole, or not at all."""
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        yield stream
        stream.flush()


def write_text(path: Path, text: str) -> None:
    """Write `text` (UTF-8) to `path` as a whole or not at all."""
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with sorted keys; NaN is refused."""
    write_text(
        path,
        json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n",
    )


def read_json(path: Path) -> Any:
    """Return the JSON value in `path`.

    Raises
    ------
    AssayError
        If the file is missing, cannot be read, or is not JSON.
    """
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise AssayError("file not found.", where=path) from error
    except OSError as error:
        raise AssayError(f"cannot be read: {error.strerror}.", where=path) from error
    except (ValueError, RecursionError) as error:
        raise AssayError(f"not valid JSON: {error}.", where=path) from error


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write one canonical JSON value a line, as a whole or not at all."""
    with atomic_write(path) as stream:
        for row in rows:
            stream.write(canonical_json(row).encode("utf-8") + b"\n")


def read_jsonl(path: Path) -> Iterator[tuple[int, Any]]:
    r"""Yield (line number from 1, value) for each non-empty line, split on ``\n`` only.

    Texts of real benchmarks hold Unicode line breaks, which `str.splitlines` would cut at.

    Raises
    ------
    AssayError
        If the file is missing, or a line is not JSON (names file and line).
    """
    try:
        stream = path.open("rb")
    except FileNotFoundError as error:
        raise AssayError("file not found.", where=path) from error
    with stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                # `json` lets in half a surrogate pair, which is no text that could be written.
                if b"\\ud" in line or b"\\uD" in line:
                    json.dumps(value, ensure_ascii=False).encode()
            except (ValueError, RecursionError) as error:
                raise AssayError(f"not valid JSON: {error}.", where=f"{path}:{number}") from error
            yield number, value


def scratch_directory() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary directory, or say clearly that there is no room for one.

    Raises
    ------
    AssayError
        If the temporary folder cannot be written.
    """
    try:
        return tempfile.TemporaryDirectory(prefix="assay-")
    except OSError as error:
        raise AssayError(
            f"no temporary folder can be made: {error.strerror or error}.",
            where=tempfile.gettempdir(),
            fix="free some space there or set TMPDIR.",
        ) from error
