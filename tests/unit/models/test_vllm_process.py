"""An engine's process does not outlive the one that started it, and its readers hear of its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.core.host import started

#: Starts a process that stands for an engine, guards it, and is then killed or ends it.
SCRIPT = """
import multiprocessing, os, signal, sys, time
from threading import Thread
from types import SimpleNamespace as Space
from assay.models.backends.vllm_process import end_client, guard

engine = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))

def shutdown(grace):
    engine.terminate()
    engine.join()

if __name__ == "__main__":
    engine.start()
    client = Space(resources=Space(engine_manager=Space(processes=[engine])), shutdown=shutdown)
    guarding = guard(client)
    serving = Thread(target=engine.join, daemon=True)
    print(engine.pid, guarding.pid, flush=True)
    serving.start()
    sys.stdin.readline()
    end_client(client, [serving], guarding)
    print(serving.is_alive(), guarding.returncode, flush=True)
"""


def ended(pid: int, start: str | None, within: float = 10.0) -> bool:
    deadline = time.monotonic() + within
    while started(pid) == start and time.monotonic() < deadline:
        time.sleep(0.05)
    return started(pid) != start


@pytest.mark.parametrize("how", ["killed", "closed"])
def test_an_engine_ends_with_its_process_however_that_ends(how: str, tmp_path: Path) -> None:
    script = tmp_path / "session.py"
    script.write_text(SCRIPT, "utf-8")
    running = subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert running.stdin is not None
    assert running.stdout is not None
    engine, guarding = map(int, running.stdout.readline().split())
    starts = [started(engine), started(guarding)]
    assert None not in starts
    if how == "killed":
        os.kill(running.pid, signal.SIGKILL)
    else:
        running.stdin.write("\n")
        running.stdin.flush()
        assert running.stdout.readline().split() == ["False", "0"]
    running.wait(20)
    assert ended(engine, starts[0])
    assert ended(guarding, starts[1])
