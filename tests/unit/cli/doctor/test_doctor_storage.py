"""Real, tiny and read-only file systems."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.doctor.check import Context
from assay.cli.doctor.storage import file_system, storage
from support.small_disk import run_with_small_disk

Make = Callable[..., Context]
LOOK = """
import sys
from pathlib import Path
from assay.cli.doctor.check import Context
from assay.cli.doctor.storage import storage
for check in storage(Context(root=Path(sys.argv[1]), cache=Path(sys.argv[1]) / "cache")):
    print("|".join([check.name, check.state, check.detail, check.advice]))
"""


def read(output: str) -> dict[str, list[str]]:
    return {line.split("|")[0]: line.split("|")[1:] for line in output.splitlines()}


def test_a_tiny_disk(tmp_path: Path) -> None:
    done = run_with_small_disk(tmp_path / "disk", 64, LOOK, str(tmp_path / "disk"))
    found = read(done.stdout)
    assert found["results: space"][0] == "wrong", done.stderr
    assert "0.0 GB free" in found["results: space"][1]
    assert "set ASSAY_CACHE" in found["cache: space"][2]
    assert found["results: writing"][0] == "ok"
    assert found["results: file system"][:2] == ["ok", "tmpfs; file locks work"]


def test_a_full_and_a_read_only_disk(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    full = "open(sys.argv[1] + '/f', 'wb').write(b'x' * 65536)"
    filled = run_with_small_disk(folder, 64, f"import sys; {full}\n{LOOK}", str(folder))
    assert "cannot be written: No space left on device" in filled.stdout, filled.stderr
    inside = f"mount -t tmpfs -o ro tmpfs '{folder}' && exec \"$@\""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", inside, "sh"]
    done = subprocess.run(
        [*command, sys.executable, "-c", LOOK, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = read(done.stdout)
    assert found["results: writing"][0] == "wrong", done.stderr
    assert "Read-only file system" in found["results: writing"][1]


def test_a_folder_that_is_not_there_yet_is_no_fault(context: Make, tmp_path: Path) -> None:
    states = {check.name: check.state for check in storage(context(root=tmp_path / "new"))}
    assert states["results: writing"] == states["cache: writing"] == "ok"
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="needs Linux")
def test_the_kind_of_a_file_system() -> None:
    assert file_system(Path("/proc/self")) == "proc"
    assert file_system(Path("/dev/shm")) in ("tmpfs", file_system(Path("/dev")))
    assert file_system(Path("/no/such/folder")) == file_system(Path("/"))
