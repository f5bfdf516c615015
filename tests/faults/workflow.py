"""Strikes at Snakemake itself, over the real workflow with a model behind a loopback server."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from faults.row import Row
from support.api_server import Counting, Server, serving
from support.workspace import Workspace

DELAY = 0.1


def workspace(project: Path, root: Path, url: str) -> Workspace:
    """Return a workspace whose one model is the server at `url`."""
    space = Workspace.create(project, root, root.with_suffix(".cache"))
    source = {"kind": "api", "base_url": url, "model": "words-1", "access": {"timeout_s": 20}}
    entry = {"family": "words", "licence": "none", "source": source}
    space.config["define"]["models"] = {"served": entry}
    space.config |= {"models": ["served"], "benchmarks": [{"key": "mine"}]}
    return space


def campaign(fault: str, times: int, project: Path, base: Path, seed: int = 0) -> Row:
    """Kill Snakemake, with its jobs or alone, at random moments; unlock, run again, compare.

    Parameters
    ----------
    fault : {"snakemake and its jobs, kill -9", "snakemake alone, kill -9"}
    """
    row, chance = Row(fault), random.Random(f"{fault} {seed}")
    with serving(Server(Counting(), delay=DELAY)) as server:
        calm = workspace(project, base / "calm", server.url)
        ran = calm.snakemake()
        assert ran.status == 0, ran.output
        steps = len(calm.seals())
        for n in range(times):
            server.tries.clear()
            space = workspace(project, base / f"struck-{n}", server.url)
            row.times += 1
            row.met += _strike(space, chance, steps, alone="alone" in fault)
            assert space.snakemake("--unlock").status == 0
            ran = space.snakemake()
            row.differ += ran.status != 0 or space.data() != calm.data()
            asked = {w: count for w, count in server.tries.items() if "Question: " in w}
            row.repeated = max(row.repeated, sum(count - 1 for count in asked.values()))
    return row


def _strike(space: Workspace, chance: random.Random, steps: int, *, alone: bool) -> bool:
    """Kill Snakemake a moment after some of its `steps` jobs have ended; False if it had too."""
    process = space.start("--quiet", "all")
    ended = chance.randrange(steps)
    while process.poll() is None and len(space.seals()) < ended:
        time.sleep(0.05)
    time.sleep(2 * chance.random())
    met = process.poll() is None
    if met:
        (os.kill if alone else os.killpg)(process.pid, signal.SIGKILL)
    process.wait()
    return met
