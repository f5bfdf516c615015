"""Looks for a secret in everything that a run wrote: as it is, encoded, and inside archives."""

from __future__ import annotations

import base64
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

_BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")


def spilled(root: Path, secret: str) -> list[Path]:
    """Return the files below `root` that hold `secret` in any form."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path for path in files if any(_holds(data, secret) for data in _contents(path))]


def _holds(data: bytes, secret: str) -> bool:
    plain = secret.encode()
    return plain in data or plain.hex().encode() in data or plain[::-1] in data


def _contents(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file and whatever can be unpacked from them, two layers deep."""
    data = path.read_bytes()
    if path.suffix == ".parquet":
        yield str(pq.read_table(io.BytesIO(data)).to_pylist()).encode()
    layer = [data]
    for _ in range(3):
        yield from layer
        layer = [inner for outer in layer for inner in _unpacked(outer)]


def _unpacked(data: bytes) -> Iterator[bytes]:
    if data[:2] == b"\x1f\x8b":
        try:
            yield gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return
    elif data[:2] == b"PK" and zipfile.is_zipfile(io.BytesIO(data)):
        archive = zipfile.ZipFile(io.BytesIO(data))
        yield from (archive.read(name) for name in archive.namelist())
    else:
        for match in _BASE64.finditer(data):
            whole = match[0][: len(match[0]) // 4 * 4]
            try:
                yield base64.b64decode(whole)
            except ValueError:
                continue
