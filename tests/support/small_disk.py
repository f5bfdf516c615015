"""Runs a program that sees a real, tiny file system at one folder, without privileges."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run_with_small_disk(
    folder: Path, kilobytes: int, code: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python `code` with a tmpfs of `kilobytes` mounted at `folder`, for it alone.

    Skips the test where the kernel does not allow mounts in a user namespace.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mount = f"mount -t tmpfs -o size={kilobytes}k tmpfs '{folder}'"
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    try:
        subprocess.run([*inside, mount], check=True, capture_output=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("mounts in a user namespace are not allowed here")
    return subprocess.run(
        [*inside, f'{mount} && exec "$@"', "sh", sys.executable, "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
