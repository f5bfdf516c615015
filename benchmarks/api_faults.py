"""Faults of a server, one kind at a time and all together: what was lost, what was asked twice.

Usage: ``python benchmarks/api_faults.py [ITEMS]``. Every third request to a loopback server fails,
at most four times for the same words; the last line kills the job (`kill -9`) three times.

Columns: observations asked; faults injected, HTTP requests and repeats; observations lost and
duplicated; requests that the server answered well more than once (to a job that was just killed);
whether the records are those of a quiet server, byte by byte.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests"))

from assay.core.identity import canonical_json  # noqa: E402
from assay.records.schema import MISSING  # noqa: E402
from assay.records.shard import read_shard  # noqa: E402
from support.api_jobs import api_job, run  # noqa: E402
from support.api_server import FAULTS, Counting, Server, serving  # noqa: E402

LINE = "{:<11} {:>5} {:>9} {:>9} {:>8} {:>5} {:>11} {:>9} {:>8} {:>8}"
HEADER = "fault asked injected requests repeats lost duplicated re-asked records seconds"


def faults_of(kinds: list[str], server: Server) -> None:
    """Let every third request after the probe fail, each kind in its turn."""
    turn = itertools.cycle(kinds)

    def fault(number: int, tries: int) -> str:
        return next(turn) if number >= 2 and number % 3 == 0 and tries < 4 else "ok"

    server.fault = fault


def killed(server: Server, items: int, folder: Path, times: int) -> None:
    """Start the job and kill it, `times` times, each time a little further on."""
    paths = os.pathsep.join([str(PROJECT / "src"), str(PROJECT / "tests")])
    command = [sys.executable, "-m", "support.api_jobs", server.url, str(items), str(folder)]
    for n in range(1, times + 1):
        victim = subprocess.Popen(
            command, env=os.environ | {"PYTHONPATH": paths}, stderr=subprocess.DEVNULL
        )
        while len(server.asked) < n * items and victim.poll() is None:
            time.sleep(0.005)
        victim.send_signal(signal.SIGKILL)
        victim.wait()


def row(name: str, server: Server, folder: Path, quiet: Path, seconds: float) -> str:
    """Return one line of the table, read off the shard and the server's own account."""
    shard = read_shard(folder)
    seen = [o for record in shard.records() for o in record.observations.values()]
    asked = Counter(canonical_json([path, body]) for path, body in server.asked)
    same = (folder / "records.jsonl").read_bytes() == (quiet / "records.jsonl").read_bytes()
    return LINE.format(
        name,
        len(seen),
        sum(count for kind, count in server.faults.items() if kind != "ok"),
        server.number,
        shard.manifest.run["backend"]["retries"],
        sum(o.status in MISSING for o in seen),
        len(seen) - len({o.key for o in seen}),
        # What a server answered to a job that was killed at that moment is asked again.
        sum(count - 1 for words, count in asked.items() if "What is" in words),
        "equal" if same else "DIFFER",
        f"{seconds:.1f}",
    )


def main(items: int) -> None:
    """Print the table."""
    print(LINE.format(*HEADER.split()))
    with tempfile.TemporaryDirectory() as base:
        quiet = Path(base, "none")
        for name in ("none", *FAULTS, "all", "kill -9"):
            folder = Path(base, name)
            server = Server(Counting(), delay=0.02 if name == "kill -9" else 0.0)
            if name not in ("none", "kill -9"):
                faults_of([*FAULTS] if name == "all" else [name], server)
            started = time.monotonic()
            with serving(server):
                if name == "kill -9":
                    killed(server, items, folder, times=3)
                run(api_job(server.url, items, timeout_s=1.0), folder)
            print(row(name, server, folder, quiet, time.monotonic() - started), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
