"""A writer in a process of its own: takes the lease, says so, keeps looking, and leaves.

Arguments: the shard's folder, a file for events, and options as JSON: `hold` (seconds), `patience`,
`beat`, `stale`, `locks` (False: the file system has none), `machine` (another one).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
import time
from pathlib import Path

from assay.core.errors import RecordError
from assay.records import holder, writer


def refuse_locks() -> None:
    """Answer as a file system without locks does."""

    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    fcntl.flock = flock


def note(path: str, event: str) -> None:
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(f"{event} {os.getpid()} {time.monotonic_ns()}\n")


def main(folder: str, events: str, options: dict[str, float]) -> None:
    if not options.pop("locks", True):
        refuse_locks()
    name = options.pop("machine", "")
    if name:
        writer.machine = holder.machine = lambda: name
    hold = options.pop("hold", 60)
    said = lambda sentence: print(sentence, file=sys.stderr, flush=True)  # noqa: E731
    with writer.WriterLease(Path(folder), say=said, **options) as lease:
        note(events, "took")
        print("has", flush=True)
        until = time.monotonic() + hold
        while time.monotonic() < until:
            time.sleep(0.02)
            lease.confirm()
            note(events, "wrote")
        note(events, "gave")


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
    except RecordError as error:
        sys.exit(f"error: {error}")
