"""Members of a zip archive that a stranger may have written, Zstandard members included.

`zipfile` of Python before 3.14 knows no Zstandard (method 93), which inspect_ai writes.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from assay.core.errors import EvaluationError

_ZSTANDARD = 93
#: A member that unpacks to more than this is no log of one sample.
LARGEST = 1 << 29
_LOCAL_HEADER = 30


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive.

    Raises
    ------
    EvaluationError
        If it is none, or damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise EvaluationError(f"this is no whole zip archive ({error}).", where=path) from error


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str) -> bytes:
    """Return a member's bytes, unpacked and checked; nothing is written to disk.

    Raises
    ------
    EvaluationError
        If it is damaged, encrypted, or unpacks to over 512 MiB.
    """
    if info.file_size > LARGEST:
        raise EvaluationError("this member unpacks to over 512 MiB.", where=where)
    try:
        if info.compress_type != _ZSTANDARD:
            with archive.open(info) as file:
                content = file.read(LARGEST + 1)
        else:
            content = _zstandard(archive, info)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError, ValueError) as error:
        raise EvaluationError(f"this member is damaged ({error}).", where=where) from error
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise EvaluationError("this member is not what its checksum says.", where=where)
    return content


def _zstandard(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    file = archive.fp
    if file is None or info.flag_bits & 1:
        raise EvaluationError("this member is encrypted.", where=info.filename)
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER or header[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile("its header is damaged")
    names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    file.seek(names, io.SEEK_CUR)
    packed = pa.BufferReader(file.read(info.compress_size))
    with pa.CompressedInputStream(packed, "zstd") as stream:
        return bytes(stream.read(info.file_size + 1))
