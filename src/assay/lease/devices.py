"""Which GPUs this process may use, asked of the driver and not of CUDA.

A lease must be taken before CUDA starts, because CUDA reads ``CUDA_VISIBLE_DEVICES`` once.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.core.errors import ModelError

VISIBLE = "CUDA_VISIBLE_DEVICES"
_QUERY = ("--query-gpu=index,uuid", "--format=csv,noheader")
#: Seconds that the driver may take; a machine without persistence mode wakes every GPU first.
_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU, or one MIG slice.

    Attributes
    ----------
    uuid : str
        Names the device whatever a process or a container calls it.
    name : str
        What ``CUDA_VISIBLE_DEVICES`` calls it: a number in PCI order, or what the user wrote.
    """

    uuid: str
    name: str


def installed_devices() -> tuple[Device, ...]:
    """Return the GPUs that the driver shows, in PCI order; none where there is no driver.

    Raises
    ------
    ModelError
        If the driver is installed and does not answer.
    """
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    try:
        answer = subprocess.run(
            [program, *_QUERY], capture_output=True, text=True, check=True, timeout=_PATIENCE
        )
    except (subprocess.SubprocessError, OSError) as error:
        said = getattr(error, "stdout", None) or str(error)
        raise ModelError(
            f"the GPUs cannot be listed: {said.strip()}",
            where=program,
            fix="mend the driver, or set the device to cpu.",
        ) from error
    rows = [line.split(",") for line in answer.stdout.splitlines() if line.strip()]
    return tuple(Device(uuid.strip(), index.strip()) for index, uuid in rows)


def visible_devices(
    environment: Mapping[str, str], installed: Sequence[Device]
) -> tuple[Device, ...]:
    """Return the devices that ``CUDA_VISIBLE_DEVICES`` leaves, all `installed` if it is unset.

    As CUDA does, the list ends at the first entry that names no device.

    Parameters
    ----------
    environment : mapping
        Usually ``os.environ``.
    installed : sequence of Device
        From `installed_devices`.

    Examples
    --------
    >>> two = [Device("GPU-aa", "0"), Device("GPU-bb", "1")]
    >>> [device.uuid for device in visible_devices({"CUDA_VISIBLE_DEVICES": "1"}, two)]
    ['GPU-bb']
    """
    if VISIBLE not in environment:
        return tuple(installed)
    found: list[Device] = []
    for entry in environment[VISIBLE].split(","):
        device = _named(entry.strip(), installed)
        if device is None:
            break
        found.append(device)
    return tuple(found)


def _named(entry: str, installed: Sequence[Device]) -> Device | None:
    if entry.startswith("MIG-"):
        return Device(entry, entry)  # the driver's list of GPUs leaves the slices out
    if entry.startswith("GPU-"):
        # CUDA accepts the beginning of a UUID as long as it is unique.
        matching = [device for device in installed if device.uuid.startswith(entry)]
        return Device(matching[0].uuid, entry) if len(matching) == 1 else None
    return next((device for device in installed if device.name == entry), None)
