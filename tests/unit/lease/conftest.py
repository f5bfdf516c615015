from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HOLDER = Path(__file__).parent / "holder.py"
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Simulate a driver that shows so many GPUs, in the words of nvidia-smi, and a lease folder."""

    def install(count: int) -> None:
        folder = tmp_path / "driver"
        folder.mkdir(exist_ok=True)
        program = folder / "nvidia-smi"
        rows = "".join(f"{k}, GPU-{k:08d}-aaaa-bbbb-cccc-dddddddddddd\\n" for k in range(count))
        program.write_text(
            f"#!/bin/sh\n[ \"$1\" = --query-gpu=index,uuid ] || exit 2\nprintf '{rows}'\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("ASSAY_LEASES", str(tmp_path / "leases"))
        for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"):
            monkeypatch.delenv(name, raising=False)

    return install


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start holders; end those that a test leaves behind."""
    running: list[subprocess.Popen[str]] = []

    def begin(count: int, seconds: float, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(HOLDER), str(count), str(seconds), str(tmp_path / "events")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()
