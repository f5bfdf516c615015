"""Hold GPUs until this process ends, unless a scheduler already gave it exactly those."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from assay.core.errors import ModelError
from assay.lease.devices import VISIBLE, Device, installed_devices, visible_devices
from assay.lease.lock import Lease, lease_folder

#: What SLURM, PBS and LSF set in a job.
_JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")
#: Held until the process ends: the kernel gives the devices back, however it ends. At most one:
#: CUDA does not learn of devices that are taken after it has started.
_held: list[Lease] = []


def assigned(environment: Mapping[str, str], visible: Sequence[Device], count: int) -> bool:
    """Return whether a scheduler gave this process just the `count` devices that it needs.

    An allocation of more is shared by the jobs inside it, and they need leases among themselves.
    """
    inside = VISIBLE in environment and any(name in environment for name in _JOBS)
    return inside and len(visible) == count


def hold_gpus(device: str, count: int) -> tuple[Device, ...]:
    """Wait for GPUs, hold them until this process ends and let CUDA see no others.

    Parameters
    ----------
    device : str
        "cuda", or "auto", which is CUDA where the driver shows a GPU that this process may use.
        Nothing happens for any other.
    count : int
        How many the model needs; at least one is taken.

    Returns
    -------
    tuple of Device
        Those that were taken; none if no lease was needed. ``CUDA_VISIBLE_DEVICES`` names them.

    Raises
    ------
    ModelError
        If there are fewer GPUs than needed, also where this process holds some already; or if the
        driver or the lock folder fails.
    """
    if device not in ("auto", "cuda"):
        return ()
    count = max(count, 1)
    if _held:
        return _again(_held[0].devices, count)
    visible = visible_devices(os.environ, installed_devices())
    # Where there is none, loading says so in its own words (cuda) or takes another device (auto).
    if not visible:
        return ()
    if assigned(os.environ, visible, count):
        print(f"using GPU {os.environ[VISIBLE]}, as the scheduler assigned", file=sys.stderr)
        return ()
    lease = Lease(
        visible, count, folder=lease_folder(), waiting=lambda why: print(why, file=sys.stderr)
    )
    lease.__enter__()
    _held.append(lease)
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # the order in which the driver numbers them
    os.environ[VISIBLE] = ",".join(taken.name for taken in lease.devices)
    print(f"holding GPU {os.environ[VISIBLE]}", file=sys.stderr, flush=True)
    return lease.devices


def _again(devices: tuple[Device, ...], count: int) -> tuple[Device, ...]:
    """Return what this process holds already, if it is enough for its next model."""
    if len(devices) < count:
        raise ModelError(
            f"this process holds {len(devices)} GPU(s) and its next model needs {count}.",
            fix="load them in two processes: CUDA cannot be given more GPUs once it has started.",
        )
    return devices
