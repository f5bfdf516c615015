"""Damage to every region of a file: what is read is right, or one error names the file."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from assay.core.errors import AssayError
from assay.records.shard import read_shard
from faults.collector import FINAL, ITEMS, quiet
from faults.row import Row
from support.api_jobs import api_job, run
from support.api_server import Counting, Server, serving


def _flip(data: bytes, at: int, chance: random.Random) -> bytes:
    return data[:at] + bytes([data[at] ^ chance.randrange(1, 256)]) + data[at + 1 :]


def _cut(data: bytes, at: int, chance: random.Random) -> bytes:
    return data[:at]


def _zeros(data: bytes, at: int, chance: random.Random) -> bytes:
    return data[:at] + bytes(min(512, len(data) - at)) + data[at + 512 :]


DAMAGES = {"a byte changed": _flip, "cut off": _cut, "a block of zeros": _zeros}


def damaged(whole: bytes, regions: int, chance: random.Random) -> Iterator[bytes]:
    """Yield `whole` with each of `regions` regions damaged in each way."""
    for region in range(regions):
        low, high = region * len(whole) // regions, (region + 1) * len(whole) // regions
        at = chance.randrange(low, max(high, low + 1))
        for damage in DAMAGES.values():
            yield damage(whole, at, chance)


def damaged_files(base: Path) -> list[str]:
    """Return the files of a finished shard that hold anything."""
    files = (path for path in quiet(base).iterdir() if path.is_file())
    return sorted(path.name for path in files if path.stat().st_size)


def campaign(name: str, regions: int, base: Path, seed: int = 0) -> Row:
    """Damage a file of a shard, read the shard, make it again."""
    row, chance = Row(f"{name} damaged"), random.Random(f"{name} {seed}")
    whole = (quiet(base) / name).read_bytes()
    expected = [(quiet(base) / final).read_bytes() for final in FINAL]
    records = list(read_shard(quiet(base)).records())
    folder = base / "damaged"
    with serving(Server(Counting())) as server:
        for changed in damaged(whole, regions, chance):
            shutil.copytree(quiet(base), folder)
            (folder / name).write_bytes(changed)
            row.times += 1
            row.met += changed != whole
            row.differ += _wrong(folder, records, server, expected, row)
            shutil.rmtree(folder)
    return row


def _wrong(folder: Path, records: list[object], server: Server, expected: object, row: Row) -> bool:
    """Tell whether reading or making the shard again gives something else without a word."""
    try:
        if list(read_shard(folder).records()) != records:
            return True
    except AssayError:
        row.refused += 1
    try:
        run(api_job(server.url, ITEMS), folder)
    except AssayError:
        return False
    return [(folder / final).read_bytes() for final in FINAL] != expected
