"""Which machine, process and scheduler job this is: how two writers tell each other apart."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

#: What schedulers call a job in its own environment, and how a user ends one.
SCHEDULERS = {
    "SLURM_JOB_ID": "scancel",
    "PBS_JOBID": "qdel",
    "LSB_JOBID": "bkill",
    "FLUX_JOB_ID": "flux cancel",
}
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")


def machine() -> str:
    """Return what names this machine until it is started again: host and boot.

    Two containers of one machine share it, two machines with the same host name do not.
    """
    boot = _BOOT.read_text("ascii").strip() if _BOOT.exists() else ""
    return f"{socket.gethostname()}/{boot}"


def process_space() -> str:
    """Return what names the set of processes in which a pid of this process means something."""
    return os.readlink(_NAMESPACE) if _NAMESPACE.is_symlink() else ""


def started(pid: int) -> str | None:
    """Return when process `pid` of this machine started, in the kernel's words; None if it ended.

    The start tells a process from a later one that was given the same number. Where there is no
    ``/proc``, a living process gives an empty text.
    """
    stat = Path("/proc", str(pid), "stat")
    try:
        fields = stat.read_text("utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "" if not Path("/proc/self/stat").exists() and _alive(pid) else None
    # A zombie has ended; only its parent does not know yet.
    return None if fields[0] in "ZX" else fields[19]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it is another user's
    return True


def scheduler_job(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the id of the scheduler's job around this process and the command that ends one.

    Examples
    --------
    >>> scheduler_job({"SLURM_JOB_ID": "17"})
    ('17', 'scancel')
    """
    for name, cancel in SCHEDULERS.items():
        if environment.get(name):
            return environment[name], cancel
    return None
