"""Strikes at a real SLURM: its node daemons are killed while jobs run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from faults.row import Row
from support.api_server import Counting, Server, serving
from support.cluster import Cluster, until

#: The steps that ask a model; what follows them is the same without SLURM.
UNTIL = ("--until", "collect")


@dataclass(frozen=True)
class Daemon:
    """A running slurmd, and what starts another like it."""

    pid: int
    command: list[str]
    environment: dict[str, str]

    @classmethod
    def of(cls, process: Path) -> Daemon:
        """Read it from ``/proc``."""
        command = (process / "cmdline").read_text().split("\0")[:-1]
        told = (process / "environ").read_text().split("\0")[:-1]
        return cls(int(process.name), command, dict(pair.split("=", 1) for pair in told))

    def replace(self, pause: float) -> None:
        """Kill it and, after a pause, start it again, known to who started the cluster."""
        os.kill(self.pid, signal.SIGKILL)
        time.sleep(pause)
        log = subprocess.DEVNULL
        new = subprocess.Popen(
            self.command,
            env=self.environment,
            stdout=log,
            stderr=log,
            stdin=log,
            start_new_session=True,
        )
        folder = Path(self.environment["SLURM_CI_OWNER"]) / "pids"
        for note in folder.glob("slurmd-*"):
            if note.read_text().split()[0] == str(self.pid):
                began = Path(f"/proc/{new.pid}/stat").read_text().rpartition(")")[2].split()[19]
                note.write_text(f"{new.pid} {began}\n")


def daemons() -> list[Daemon]:
    """Return the node daemons of the cluster on this machine."""
    named = [path for path in Path("/proc").glob("[0-9]*") if _name(path) == "slurmd"]
    return [Daemon.of(path) for path in named]


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return ""


def struck(space: Cluster, chance: random.Random, steps: int) -> bool:
    """Collect everything; kill every node daemon a moment after some jobs have ended."""
    process = space.begin(*UNTIL)
    ended = chance.randrange(steps)
    until(lambda: process.poll() is not None or len(space.seals()) >= ended)
    time.sleep(3 * chance.random())
    met = process.poll() is None
    for daemon in daemons():
        daemon.replace(chance.uniform(0.1, 3))
    ran = space.end(process)
    if ran.status:
        assert space.snakemake("--unlock").status == 0
        ran = space.snakemake(*UNTIL)
    assert ran.status == 0, ran.output
    return met


def campaign(times: int, project: Path, base: Path, seed: int = 0) -> Row:
    """Strike `times` runs and compare each with one that nothing disturbed."""
    row, chance = Row("slurmd, kill -9"), random.Random(f"slurmd {seed}")
    with serving(Server(Counting(), delay=0.3)) as server:
        calm = _space(project, base / "calm", server.url)
        ran = calm.snakemake(*UNTIL)
        assert ran.status == 0, ran.output
        for n in range(times):
            server.tries.clear()
            space = _space(project, base / f"struck-{n}", server.url)
            row.times += 1
            try:
                row.met += struck(space, chance, len(calm.seals()))
            finally:
                space.end_all()
            row.differ += space.data() != calm.data()
            asked = {w: count for w, count in server.tries.items() if "Question: " in w}
            row.repeated = max(row.repeated, sum(count - 1 for count in asked.values()))
    return row


def _space(project: Path, root: Path, url: str) -> Cluster:
    space = Cluster.build(project, root, root.with_suffix(".cache"))
    space.serve(url)
    return space
