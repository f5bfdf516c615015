"""Two collectors of one shard, and one that a scheduler asks to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.core.errors import AssayError, RecordError
from assay.core.termination import Termination
from assay.records.writer import lease_path, read_holder
from support import api_jobs
from support.api_server import Counting, Server, serving

PATIENCE = 60
ITEMS = 4


def collector(url: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "support.api_jobs", url, str(ITEMS), str(folder)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=_environment())


def _environment() -> dict[str, str]:
    tests = Path(api_jobs.__file__).parents[1]
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def server() -> Server:
    return Server(Counting(), delay=0.3)


def test_a_second_collector_leaves_or_waits_and_asks_nothing_again(
    server: Server, tmp_path: Path
) -> None:
    with serving(server):
        first = collector(server.url, tmp_path)
        until(lambda: read_holder(lease_path(tmp_path)))
        job = api_jobs.api_job(server.url, ITEMS)
        with pytest.raises(RecordError, match=f"is collecting this shard: process {first.pid} on"):
            api_jobs.run(job, tmp_path)
        assert first.poll() is None
        manifest = api_jobs.run(job, tmp_path, patience=PATIENCE)
        assert first.wait(PATIENCE) == 0
        assert manifest.run["observations_asked"] == 0
        assert manifest.run["observations_reused"] == ITEMS * 5
        assert set(server.tries.values()) == {1}, "something was asked twice"


def test_sigterm_ends_after_the_batch_and_keeps_it(server: Server, tmp_path: Path) -> None:
    with serving(server):
        first = collector(server.url, tmp_path)
        # What is asked once is a proof of log-probabilities; then the batch of generations.
        until(lambda: any("A. " in str(body) for _, body in list(server.asked)))
        first.send_signal(signal.SIGTERM)
        first.send_signal(signal.SIGTERM)
        _, said = first.communicate(timeout=PATIENCE)
        assert first.returncode == 1
        assert "stopped by SIGTERM" in said
        assert f"{ITEMS * 4} observations were answered and are kept" in said
        assert not lease_path(tmp_path).exists()
        assert not (tmp_path / "manifest.json").exists()
        manifest = api_jobs.run(api_jobs.api_job(server.url, ITEMS), tmp_path)
    assert manifest.run["observations_asked"] == ITEMS
    assert manifest.run["observations_reused"] == ITEMS * 4


def test_sigterm_means_again_what_it_meant_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Termination() as stop:
        stop.check("nothing was done")
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(AssayError, match="nothing was done. Fix: run again"):
            stop.check("nothing was done")
    assert signal.getsignal(signal.SIGTERM) is before
