"""The site builds without a warning and shows every public name."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the site needs the extra `docs`")


@pytest.fixture(scope="module")
def site(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stats", "leaderboard"])
def test_the_reference_shows_every_public_name(site: Path, name: str) -> None:
    page = (site / "reference" / f"{name}.html").read_text("utf-8")
    public = importlib.import_module(f"assay.{name}").__all__
    # A function that shares its module's name is shown under the module.
    shown = set(re.findall(rf'id="assay\.{name}\.([\w.]+)"', page))
    missing = [x for x in public if not shown & {x, f"{x}.{x}", f"tables.{x}"}]
    assert not missing


@pytest.mark.slow
def test_every_command_of_the_how_to_pages_exists(project: Path) -> None:
    """A command that was renamed must be renamed on the pages too."""
    assay = shutil.which("assay")
    assert assay is not None
    said = {
        match
        for page in [project / "README.md", *(project / "docs").rglob("*.md")]
        for match in re.findall(r"^assay ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE)
    }
    assert said
    for command in sorted(said):
        done = subprocess.run([assay, command, "--help"], capture_output=True, check=False)
        assert done.returncode == 0, command
