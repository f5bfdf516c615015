"""Strikes at a collector that asks a server on loopback: signals, a full disk, a second writer."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from assay.records.schema import MISSING
from assay.records.shard import read_shard
from faults.row import Row
from support.api_jobs import api_job, run
from support.api_server import Counting, Server, serving

PROJECT = Path(__file__).resolve().parents[2]
#: Items of a shard, and what the server takes for one answer.
ITEMS, DELAY = 6, 0.05
FINAL = ("records.jsonl", "prompts.parquet")

Strike = Callable[["Job", random.Random], bool]


class Job:
    """A collector in a process of its own."""

    def __init__(self, server: Server, folder: Path):
        self.server, self.folder = server, folder

    def start(self, limit: int | None = None) -> subprocess.Popen[str]:
        """Start it, with at most `limit` bytes a file."""
        paths = os.pathsep.join([str(PROJECT / "src"), str(PROJECT / "tests")])
        command = [sys.executable, "-m", "support.api_jobs", self.server.url, str(ITEMS)]

        def small() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.Popen(
            [*command, str(self.folder)],
            env=os.environ | {"PYTHONPATH": paths},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=small,
        )

    def until_asked(self, number: int, process: subprocess.Popen[str]) -> bool:
        """Wait until the server has been asked so often; False if the job ended before."""
        while self.server.number < number:
            if process.poll() is not None:
                return False
            time.sleep(0.002)
        return True


def signalled(number: signal.Signals) -> Strike:
    """Return a strike that sends a signal at a random moment between first and last answer."""

    def strike(job: Job, chance: random.Random) -> bool:
        process = job.start()
        met = job.until_asked(chance.randrange(1, 2 + ITEMS * 8), process)
        time.sleep(chance.random() * DELAY)
        met = met and process.poll() is None
        process.send_signal(number)
        process.communicate()
        return met

    return strike


def full_disk(job: Job, chance: random.Random) -> bool:
    """Let no file grow beyond a random size: what a full disk or a quota does."""
    process = job.start(limit=chance.randrange(64, 20_000))
    process.communicate()
    return process.returncode != 0


def second_writer(job: Job, chance: random.Random) -> bool:
    """Start the same job twice; one of them waits or leaves."""
    first = job.start()
    time.sleep(chance.random())
    second = job.start()
    said = [process.communicate()[1] for process in (first, second)]
    codes = [process.returncode for process in (first, second)]
    assert 0 in codes, said
    return first.returncode != second.returncode


STRIKES: dict[str, Strike] = {
    "collector, kill -9": signalled(signal.SIGKILL),
    "collector, SIGTERM": signalled(signal.SIGTERM),
    "collector, SIGINT": signalled(signal.SIGINT),
    "disk full": full_disk,
    "two collectors of one shard": second_writer,
}


def quiet(base: Path) -> Path:
    """Return the shard that nothing disturbed."""
    folder = base / "quiet"
    if not folder.is_dir():
        with serving(Server(Counting())) as server:
            run(api_job(server.url, ITEMS), folder)
    return folder


def campaign(fault: str, times: int, base: Path, seed: int = 0) -> Row:
    """Strike a fresh shard `times` times, resume each and compare."""
    row, chance = Row(fault), random.Random(f"{fault} {seed}")
    expected = [(quiet(base) / name).read_bytes() for name in FINAL]
    for n in range(times):
        folder = base / f"struck-{n}"
        with serving(Server(Counting(), delay=DELAY)) as server:
            row.met += STRIKES[fault](Job(server, folder), chance)
            run(api_job(server.url, ITEMS), folder)
        asked = {w: count for w, count in server.tries.items() if "What is" in w}
        row.times += 1
        row.repeated = max(row.repeated, sum(count - 1 for count in asked.values()))
        seen = [o for r in read_shard(folder).records() for o in r.observations.values()]
        row.lost += sum(o.status in MISSING for o in seen)
        row.differ += [(folder / name).read_bytes() for name in FINAL] != expected
        shutil.rmtree(folder)
    return row
