"""One lock file a device: two processes of one machine never hold the same one.

The lock is `flock`, which the kernel drops with the last descriptor of its holder. So a killed job
gives its devices back at once, and there is no stale lock to clean up. The files stay where they
are: removing one would let two processes lock two files of the same name.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from assay.core.errors import ModelError
from assay.lease.devices import Device

#: Seconds between two looks at devices that are taken.
_PAUSE = 0.2
_GATE = "gate"


def lease_folder() -> Path:
    """Return ``$ASSAY_LEASES``, by default a folder in ``/tmp`` that all users of a machine share.

    It does not follow ``TMPDIR``, which differs between jobs, nor a home, which spans machines.
    """
    return Path(os.environ.get("ASSAY_LEASES", "/tmp/assay-leases"))


class Lease:
    """Exclusive use of `count` of `devices`: all of them at once, or none.

    Parameters
    ----------
    devices : sequence of Device
        Those to choose from; the first free ones are taken.
    count : int
        How many are needed. A job that needs several waits until so many are free at one moment.
    folder : Path
        Where the lock files lie; on a local disk, the same for every process of the machine.
    waiting : callable, optional
        Called once, with a sentence that says who holds the devices, before it begins to wait.

    Raises
    ------
    ModelError
        On entering, if there are fewer devices than needed or the folder cannot be used.
    """

    def __init__(
        self,
        devices: Sequence[Device],
        count: int,
        *,
        folder: Path,
        waiting: Callable[[str], None] | None = None,
    ):
        self.devices: tuple[Device, ...] = ()
        self._choice = tuple(devices)
        self._count = count
        self._folder = folder
        self._waiting = waiting
        self._held: list[int] = []

    def __enter__(self) -> Lease:
        if len(self._choice) < self._count:
            raise ModelError(
                f"{self._count} GPU(s) are needed and {len(self._choice)} can be used here.",
                fix="widen CUDA_VISIBLE_DEVICES, or ask for fewer GPUs in the model's entry.",
            )
        _prepare(self._folder)
        while not self._try():
            if self._waiting is not None:
                self._waiting(self._describe())
                self._waiting = None
            time.sleep(_PAUSE)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """Give the devices back."""
        while self._held:
            os.close(self._held.pop())
        self.devices = ()

    def _try(self) -> bool:
        """Take the first free devices if there are enough of them."""
        # Only one process chooses at a time: two that each take half of what both need would
        # otherwise give it back and collide again.
        gate = _open(self._folder / _GATE)
        try:
            fcntl.flock(gate, fcntl.LOCK_EX)
            taken = self._take()
        finally:
            os.close(gate)
            if len(self._held) < self._count:
                self.release()
        self.devices = taken[: len(self._held)]
        return bool(self._held)

    def _take(self) -> tuple[Device, ...]:
        """Lock devices until there are enough, or no more to try."""
        taken: list[Device] = []
        for device in self._choice:
            if len(taken) == self._count:
                break
            descriptor = _lock(self._path(device))
            if descriptor is not None:
                self._held.append(descriptor)
                taken.append(device)
        return tuple(taken)

    def _path(self, device: Device) -> Path:
        return self._folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', device.uuid)}.lock"

    def _describe(self) -> str:
        holders = [
            f"{device.name} (process {self._path(device).read_text('utf-8').strip() or '?'})"
            for device in self._choice
        ]
        return (
            f"waiting for {self._count} free GPU(s); last holders of those that this job may use: "
            f"{', '.join(holders)}."
        )


def _prepare(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o1777)  # shared by all users, like /tmp itself


def _open(path: Path) -> int:
    """Open a lock file that any user of the machine may have made."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            # Without O_CREAT first: Linux refuses it for another user's file in a sticky folder.
            return os.open(path, flags)
        except FileNotFoundError:
            descriptor = os.open(path, flags | os.O_CREAT, 0o666)
            os.fchmod(descriptor, 0o666)  # the umask took the others' rights away
            return descriptor
    except OSError as error:
        raise ModelError(
            f"the GPU lock cannot be opened: {error.strerror or error}.",
            where=path,
            fix="set ASSAY_LEASES to a folder on a local disk that all users of the machine share.",
        ) from error


def _lock(path: Path) -> int | None:
    """Lock `path` and write who holds it; None if another process does."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor
