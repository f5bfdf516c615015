"""Strikes at a run of the real workflow with a model behind a loopback server."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from faults.mounts import mounted, possible
from faults.row import Row
from support.api_server import Counting, Server, serving
from support.workspace import Workspace

DELAY = 0.1
#: How far a clock may jump, in seconds.
JUMP = 2 * 86_400

#: Strikes a run of so many steps; returns whether it met the run before its end.
Strike = Callable[[Workspace, random.Random, int], bool]


def workspace(project: Path, root: Path, url: str) -> Workspace:
    """Return a workspace whose one model is the server at `url`."""
    space = Workspace.create(project, root, root.with_suffix(".cache"))
    source = {"kind": "api", "base_url": url, "model": "words-1", "access": {"timeout_s": 20}}
    entry = {"family": "words", "licence": "none", "source": source}
    space.config["define"]["models"] = {"served": entry}
    space.config |= {"models": ["served"], "benchmarks": [{"key": "mine"}]}
    return space


def _in_the_middle(space: Workspace, chance: random.Random, steps: int) -> subprocess.Popen[bytes]:
    """Start a run and wait until a moment after some of its `steps` jobs have ended."""
    process = space.start("--quiet", "all")
    ended = chance.randrange(steps)
    while process.poll() is None and len(space.seals()) < ended:
        time.sleep(0.05)
    time.sleep(2 * chance.random())
    return process


def _killed(*, alone: bool) -> Strike:
    def strike(space: Workspace, chance: random.Random, steps: int) -> bool:
        process = _in_the_middle(space, chance, steps)
        met = process.poll() is None
        if met:
            (os.kill if alone else os.killpg)(process.pid, signal.SIGKILL)
        process.wait()
        return met

    return strike


def two_at_once(space: Workspace, chance: random.Random, steps: int) -> bool:
    """Start a second run in the same folder; Snakemake's lock ends it."""
    first = _in_the_middle(space, chance, steps)
    met = first.poll() is None
    second = space.start("--quiet", "all")
    codes = first.wait(), second.wait()
    assert codes[0] == 0, "the second run ended the first"
    return met and codes[1] != 0


def clock(space: Workspace, chance: random.Random, steps: int) -> bool:
    """Kill the run and set the clock back or forth: what was written has other ages then."""
    met = _killed(alone=False)(space, chance, steps)
    jump = chance.uniform(-JUMP, JUMP)
    for path in _written(space):
        seen = path.stat().st_mtime + jump
        os.utime(path, (seen, seen))
    return met


def _written(space: Workspace) -> list[Path]:
    return [path for path in (space.root / "results").rglob("*") if path.is_file()]


def _resumed(space: Workspace, row: Row) -> bool:
    """Run again as a user would, and tell whether that ended well.

    Snakemake refuses a job whose inputs are from the future; what it advises is done then.
    """
    assert space.snakemake("--unlock").status == 0
    ran = space.snakemake()
    if ran.status and "clock skew" in ran.output:
        row.refused += 1
        for path in _written(space):
            path.touch()
        ran = space.snakemake()
    return ran.status == 0


def full_disk(space: Workspace, chance: random.Random, steps: int) -> bool:
    """Let `results` lie on a disk of a random small size, and make room afterwards."""
    disk = mounted(space.root / "results", chance.randrange(64, 1_500))
    status = space.start("--quiet", "all").wait()
    disk.resize(200_000)
    return status != 0


def read_only(space: Workspace, chance: random.Random, steps: int) -> bool:
    """Let `results` become read-only for a while, as a failing disk does."""
    disk = mounted(space.root / "results", 200_000)
    process = _in_the_middle(space, chance, steps)
    met = disk.frozen(while_running=process)
    status = process.wait()
    disk.thaw()
    return met and status != 0


def late_files(space: Workspace, chance: random.Random, steps: int) -> bool:
    """Let a shard be seen only seconds after its job ended, as file servers may."""
    delay = chance.uniform(1, 12)  # Snakemake waits five seconds
    fake = space.root / "late" / "python"
    fake.parent.mkdir()
    fake.write_text(_LATE.format(delay=delay, python=sys.executable))
    fake.chmod(0o755)
    process = space.start("--quiet", "all", path=fake.parent)
    status = process.wait()
    time.sleep(delay + 1)  # what is late must be there before the run goes on
    return delay > 5 if status else True


#: Runs Python; a shard that it has finished is moved away and comes back later.
_LATE = """#!/usr/bin/env bash
{python} "$@"
status=$?
if [[ "$1" == scripts/collect.py ]]; then
  while [[ $# -gt 0 && "$1" != --out ]]; do shift; done
  mv "$2" "$2.late"
  (sleep {delay}; mkdir -p "$2"; mv "$2.late"/* "$2.late"/.[!.]* "$2"; rmdir "$2.late") \\
    >/dev/null 2>&1 &
fi
exit $status
"""

STRIKES: dict[str, Strike] = {
    "snakemake and its jobs, kill -9": _killed(alone=False),
    "snakemake alone, kill -9": _killed(alone=True),
    "two snakemake in one folder": two_at_once,
    "killed, and the clock jumps": clock,
    "results on a full disk": full_disk,
    "results become read-only": read_only,
    "a shard seen late": late_files,
}


def strikes() -> list[str]:
    """Return the names of the strikes that this user may do here: disks have to be mounted."""
    disks = (full_disk, read_only)
    return [name for name, strike in STRIKES.items() if strike not in disks or possible()]


def campaign(fault: str, times: int, project: Path, base: Path, seed: int = 0) -> Row:
    """Strike a fresh run `times` times; unlock, run again, compare."""
    row, chance = Row(fault), random.Random(f"{fault} {seed}")
    with serving(Server(Counting(), delay=DELAY)) as server:
        calm = workspace(project, base / "calm", server.url)
        ran = calm.snakemake()
        assert ran.status == 0, ran.output
        for n in range(times):
            server.tries.clear()
            space = workspace(project, base / f"struck-{n}", server.url)
            row.times += 1
            row.met += STRIKES[fault](space, chance, len(calm.seals()))
            row.differ += not _resumed(space, row) or space.data() != calm.data()
            asked = {w: count for w, count in server.tries.items() if "Question: " in w}
            row.repeated = max(row.repeated, sum(count - 1 for count in asked.values()))
    return row
