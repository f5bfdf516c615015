from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.doctor.check import Context
from assay.cli.doctor.compute import driver, leases, torch

Make = Callable[..., Context]
HOLD = """
import os, sys, time
from pathlib import Path
from assay.lease import Device, Lease
lease = Lease([Device("GPU-aa", "0")], 1, folder=Path(sys.argv[1]))
lease.__enter__()
if len(sys.argv) > 2:  # a child goes on with the lock when this process ends
    child = os.fork()
    if child:
        print(child, flush=True)
        os._exit(0)
else:
    print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.fixture
def broken_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'Failed to initialize NVML: version mismatch'\nexit 18\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


def test_a_driver_that_fails(context: Make, broken_driver: None) -> None:
    found = driver(context({}))
    assert found.state == "wrong"
    assert "Failed to initialize NVML" in found.detail


def test_no_gpu_is_wrong_only_where_one_is_needed(
    context: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert driver(context({})).state == "skipped"
    cuda = {"runtime": {"device": "cuda"}}
    assert driver(context(cuda)).state == "wrong"
    assert driver(context(cuda, profile={"executor": "slurm"})).state == "skipped", "a login node"


def test_a_torch_that_cannot_be_loaded(
    context: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("import ctypes\nctypes.CDLL('libcudart.so.0')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    found = torch(context({}))
    assert found.state == "wrong"
    assert "libcudart.so.0" in found.detail


def test_torch_is_not_loaded_for_a_served_model(context: Make) -> None:
    source = {"kind": "api", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    entry = {"family": "f", "licence": "l", "source": source}
    found = torch(context({"models": ["s"], "define": {"models": {"s": entry}}}))
    assert found.state == "skipped"


@pytest.mark.model
def test_the_torch_of_this_environment(context: Make) -> None:
    found = torch(context({}))
    assert found.state == "ok"
    assert "CUDA" in found.detail


def test_who_holds_a_device(context: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "leases"
    monkeypatch.setenv("ASSAY_LEASES", str(folder))
    assert leases(context()).detail.endswith("held: none")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    found = leases(context())
    holder.kill()
    holder.communicate()
    assert (found.state, found.detail) == (
        "ok",
        f"{folder}; held: GPU-aa by process {holder.pid}",
    )
    assert leases(context()).detail.endswith("held: none"), "the kernel gave it back"


def test_a_device_that_only_a_child_still_holds(
    context: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_LEASES", str(tmp_path / "leases"))
    parent = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "leases"), "fork"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.wait()
    try:
        found = leases(context())
    finally:
        os.kill(child, signal.SIGKILL)
    assert found.state == "warn"
    assert f"GPU-aa by process {parent.pid}, which has ended" in found.detail


def test_a_lease_folder_that_cannot_be_used(
    context: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_LEASES", "/proc/leases")
    found = leases(context())
    assert found.state == "wrong"
    assert "cannot be written" in found.detail
