from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from assay.core.host import machine, process_space, scheduler_job, started


def test_a_process_is_known_by_its_start() -> None:
    assert started(os.getpid()) == started(os.getpid()) is not None
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    assert started(child.pid) not in (None, started(os.getpid()))
    child.kill()
    while started(child.pid) is not None:  # a zombie, which nobody has waited for, has ended
        time.sleep(0.01)
    child.wait()
    assert started(child.pid) is None


def test_processes_of_one_machine_agree_on_where_they_are() -> None:
    code = "from assay.core.host import machine, process_space; print(machine(), process_space())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [machine(), process_space()]


@pytest.mark.parametrize(
    ("environment", "job"),
    [
        ({}, None),
        ({"SLURM_JOB_ID": ""}, None),
        ({"SLURM_JOB_ID": "17"}, ("17", "scancel")),
        ({"PBS_JOBID": "3.server"}, ("3.server", "qdel")),
        ({"LSB_JOBID": "9"}, ("9", "bkill")),
    ],
)
def test_the_job_around_a_process(environment: dict[str, str], job: tuple[str, str] | None) -> None:
    assert scheduler_job(environment) == job
