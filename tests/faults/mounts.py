"""Small disks of their own for what a run writes: full, read-only, and well again."""

from __future__ import annotations

import atexit
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


def possible() -> bool:
    """Return whether this user may mount a disk in memory here."""
    with tempfile.TemporaryDirectory() as folder:
        if _mount("-t", "tmpfs", "-o", "size=64k", "assay-faults", folder):
            return subprocess.run(["umount", folder], check=False).returncode == 0
    return False


def _mount(*words: str) -> bool:
    done = subprocess.run(["mount", *words], capture_output=True, check=False)
    return done.returncode == 0


@dataclass(frozen=True)
class Disk:
    """A file system in memory."""

    folder: Path

    def resize(self, kib: int) -> None:
        """Make room, or take it away."""
        assert _mount("-o", f"remount,size={kib}k", str(self.folder))

    def frozen(self, *, while_running: subprocess.Popen[bytes]) -> bool:
        """Make it read-only as soon as no file is open for writing; False if the run ends first."""
        while while_running.poll() is None:
            if _mount("-o", "remount,ro", str(self.folder)):
                return True
            time.sleep(0.01)
        return False

    def thaw(self) -> None:
        """Make it writable."""
        assert _mount("-o", "remount,rw", str(self.folder))


def mounted(folder: Path, kib: int) -> Disk:
    """Mount a disk of so many KiB at `folder`, until this process ends."""
    folder.mkdir(parents=True)
    assert _mount("-t", "tmpfs", "-o", f"size={kib}k", "assay-faults", str(folder))
    atexit.register(subprocess.run, ["umount", "--lazy", str(folder)], check=False)
    return Disk(folder)
