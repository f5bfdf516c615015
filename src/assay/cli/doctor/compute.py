"""torch, the driver, and the lease folder of this machine's GPUs."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from assay.cli.doctor.check import Check, Context, State, ask, listed
from assay.cli.doctor.storage import NETWORK, existing, file_system
from assay.core.errors import ModelError
from assay.core.host import started
from assay.lease.devices import installed_devices
from assay.lease.lock import lease_folder

#: In a process of its own: torch takes seconds, and a broken one takes its process along.
_TORCH = """
import json, torch
print(json.dumps([torch.__version__, torch.version.cuda, torch.cuda.is_available(),
                  torch.cuda.device_count()]))
"""
_LOCKS = Path("/proc/locks")


def driver(context: Context) -> Check:
    """Look at the GPUs that the driver shows."""
    try:
        devices = installed_devices()
    except ModelError as error:
        return Check("gpus", "wrong", error.what, error.fix or "")
    if devices:
        return Check("gpus", "ok", f"{len(devices)} on this machine")
    if _wanted(context) == "cuda" and not context.profile:
        detail = "runtime.device is cuda and no driver answers (nvidia-smi)"
        return Check("gpus", "wrong", detail, "run where the GPUs are, or set device to cpu.")
    return Check("gpus", "skipped", "none on this machine")


def torch(context: Context) -> Check:
    """Load torch and ask it for CUDA."""
    if not context.backends & {"hf_local", "vllm_offline"}:
        return Check("torch", "skipped", "no model of the study is computed here")
    try:
        version("torch")
    except PackageNotFoundError:
        return Check("torch", "wrong", "not installed", "pip install 'assay[hf]'.")
    said, complaint = ask(sys.executable, "-c", _TORCH, seconds=120)
    if said is None:
        advice = "install torch anew; on a machine without a GPU from PyTorch's CPU index (README)."
        return Check("torch", "wrong", f"cannot be loaded: {complaint}", advice)
    name, cuda, available, count = json.loads(said.splitlines()[-1])
    detail = f"{name}, CUDA {cuda or 'none'}"
    if available:
        return Check("torch", "ok", f"{detail}, {count} GPU(s)")
    return _without_cuda(context, detail, built=bool(cuda))


def _without_cuda(context: Context, detail: str, *, built: bool) -> Check:
    """Say what it means that torch cannot use a GPU."""
    try:
        devices = installed_devices()
    except ModelError:
        devices = ()  # `driver` has told
    if not devices:
        return Check("torch", "ok", f"{detail}; no GPU here")
    why = "its CUDA does not fit the driver" if built else "it is a CPU build"
    advice = "install the build of torch for this driver's CUDA (nvidia-smi shows it)."
    state: State = "wrong" if _wanted(context) == "cuda" else "warn"
    return Check("torch", state, f"{detail}: {why}, and there are {len(devices)} GPUs", advice)


def _wanted(context: Context) -> str:
    return context.study.config.runtime.device if context.study else "auto"


def leases(context: Context) -> Check:
    """Look at the folder in which jobs of this machine lock its GPUs."""
    folder = lease_folder()
    kind = file_system(folder)
    if kind in NETWORK:
        detail = f"{folder} lies on {kind}, which other machines share"
        advice = "set ASSAY_LEASES to a folder on a local disk of each machine."
        return Check("gpu leases", "wrong", detail, advice)
    try:
        with tempfile.TemporaryFile(dir=existing(folder)):
            pass
    except OSError as error:
        detail = f"{folder} cannot be written: {error.strerror}"
        advice = "make it writable for all users (mode 1777), or set ASSAY_LEASES."
        return Check("gpu leases", "wrong", detail, advice)
    return _held(folder)


def _held(folder: Path) -> Check:
    """Say who holds devices, and whose process has ended and left its lock to a child."""
    holders = lock_holders()
    held: list[str] = []
    orphaned: list[str] = []
    for path in sorted(folder.glob("*.lock")) if folder.is_dir() else []:
        stat = path.stat()
        holder = holders.get((stat.st_dev, stat.st_ino))
        if holder is None:
            continue
        said = path.read_text("utf-8").strip()
        name = f"{path.stem} by process {said or holder}"
        ended = said.isdigit() and started(int(said)) is None
        (orphaned if ended else held).append(name)
    if orphaned:
        advice = "a process that it started still has the GPU: find it with nvidia-smi and end it."
        return Check("gpu leases", "warn", f"{listed(orphaned)}, which has ended", advice)
    return Check("gpu leases", "ok", f"{folder}; held: {listed(held) if held else 'none'}")


def lock_holders() -> dict[tuple[int, int], int]:
    """Return (device, inode) of every file that is locked on this machine → the locking process."""
    if not _LOCKS.is_file():
        return {}
    found = {}
    for line in _LOCKS.read_text("ascii").splitlines():
        fields = line.split()
        if "FLOCK" not in fields or "->" in fields:
            continue
        major, minor, inode = fields[5].split(":")
        device = os.makedev(int(major, 16), int(minor, 16))
        found[device, int(inode)] = int(fields[4])
    return found
