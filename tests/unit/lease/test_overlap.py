"""Real processes, real locks, simulated devices: no device is ever held twice."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Start

Driver = Callable[[int], None]
PATIENCE = 30


def spans(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Return device → the times between which a process held it; a killed one never gave back."""
    took: dict[str, tuple[int, list[str]]] = {}
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for line in path.read_text().splitlines():
        event, process, moment, names = line.split()
        if event == "took":
            took[process] = (int(moment), names.split(","))
        else:
            since, held = took.pop(process)
            for name in held:
                found[name].append((since, int(moment)))
    return found


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def test_no_two_jobs_hold_one_device(driver: Driver, start: Start, tmp_path: Path) -> None:
    driver(3)
    counts = [1, 2, 1, 3, 1, 2, 1, 1, 2, 1]
    jobs = [start(count, 0.05) for count in counts]
    for job in jobs:
        assert job.wait(PATIENCE) == 0
    held = spans(tmp_path / "events")
    assert sum(len(times) for times in held.values()) == sum(counts)
    for times in held.values():
        ordered = sorted(times)
        assert all(end < begin for (_, end), (begin, _) in zip(ordered, ordered[1:], strict=False))


def test_several_devices_are_used_at_once(driver: Driver, start: Start, tmp_path: Path) -> None:
    """A lock that let one job run at a time would pass the test above."""
    driver(2)
    first, second = start(1, 60), start(1, 60)
    ready(first)
    ready(second)
    names = [line.split()[3] for line in (tmp_path / "events").read_text().splitlines()]
    assert sorted(names) == ["0", "1"]


def test_a_killed_job_gives_its_device_back(driver: Driver, start: Start) -> None:
    driver(1)
    first = start(1, 60)
    ready(first)
    second = start(1, 0)
    assert second.stderr is not None
    # It says whom it waits for before it waits.
    assert f"0 (process {first.pid})" in second.stderr.readline()
    assert second.poll() is None
    os.kill(first.pid, signal.SIGKILL)
    killed = time.monotonic()
    ready(second)
    assert time.monotonic() - killed < 5
    assert second.wait(PATIENCE) == 0


def test_a_job_takes_all_that_it_needs_or_nothing(driver: Driver, start: Start) -> None:
    """A waiting job for two devices keeps none from a job that needs only the free one."""
    driver(2)
    first = start(1, 60)
    ready(first)
    both = start(2, 0)
    assert both.stderr is not None
    assert "waiting for 2 free GPU(s)" in both.stderr.readline()
    assert start(1, 0).wait(PATIENCE) == 0
    assert both.poll() is None
    first.kill()
    assert both.wait(PATIENCE) == 0


def test_many_jobs_for_two_of_two_devices_all_finish(driver: Driver, start: Start) -> None:
    """Taking devices one by one and keeping them would lock two such jobs for ever."""
    driver(2)
    for job in [start(2, 0) for _ in range(6)]:
        assert job.wait(PATIENCE) == 0


@pytest.mark.parametrize(("visible", "taken"), [("1", "1"), ("GPU-00000002", "GPU-00000002")])
def test_the_users_choice_of_devices_is_kept(
    driver: Driver, start: Start, tmp_path: Path, visible: str, taken: str
) -> None:
    driver(3)
    assert start(1, 0, CUDA_VISIBLE_DEVICES=visible).wait(PATIENCE) == 0
    assert (tmp_path / "events").read_text().split()[3] == taken


def test_two_names_of_one_device_are_one_lock(driver: Driver, start: Start) -> None:
    driver(2)
    first = start(1, 60, CUDA_VISIBLE_DEVICES="1")
    ready(first)
    second = start(1, 0, CUDA_VISIBLE_DEVICES="GPU-00000001")
    assert second.stderr is not None
    assert f"process {first.pid}" in second.stderr.readline()


def test_a_job_in_an_allocation_of_more_leases_its_share(
    driver: Driver, start: Start, tmp_path: Path
) -> None:
    driver(4)
    inside = {"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "2,3"}
    for job in (start(1, 60, **inside), start(1, 60, **inside)):
        ready(job)
    lines = (tmp_path / "events").read_text().splitlines()
    assert sorted(line.split()[3] for line in lines) == ["2", "3"]
