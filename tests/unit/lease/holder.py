"""A job in a process of its own: takes devices, says which, keeps them, and leaves.

Arguments: how many, how long (seconds), and a file to which it appends one line when it has them
and one when it gives them back. The devices are what the driver shows.
"""

from __future__ import annotations

import os
import sys
import time

from assay.lease import hold_gpus


def note(path: str, event: str) -> None:
    line = f"{event} {os.getpid()} {time.monotonic_ns()} {os.environ['CUDA_VISIBLE_DEVICES']}\n"
    # One small write to a file opened for appending is not torn by another process's.
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(line)


if __name__ == "__main__":
    count, seconds, path = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    hold_gpus("cuda", count)
    note(path, "took")
    print("ready", flush=True)
    time.sleep(seconds)
    note(path, "gave")
