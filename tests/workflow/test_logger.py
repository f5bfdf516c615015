"""`snakemake --logger rich`, the progress display of the locked environment, on a real run."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from support.workspace import Workspace

pytestmark = pytest.mark.workflow


def shown(space: Workspace, *arguments: str) -> tuple[int, str]:
    """Run Snakemake on a terminal; return its status and what it wrote, colours left out."""
    ours, its = pty.openpty()
    running = subprocess.Popen(
        space.command(*arguments),
        cwd=space.root,
        env=space.environment | {"TERM": "xterm", "COLUMNS": "200"},
        stdin=its,
        stdout=its,
        stderr=its,
    )
    os.close(its)
    written = bytearray()
    while True:
        try:
            some = os.read(ours, 1 << 16)
        except OSError:  # Linux: the other end is closed
            break
        if not some:
            break
        written += some
    os.close(ours)
    return running.wait(), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode("utf-8"))


@pytest.fixture
def space(project: Path, assay_cache: Path, tmp_path: Path) -> Workspace:
    space = Workspace.create(project, tmp_path / "w", assay_cache)
    space.config["benchmarks"] = [{"key": "mine"}]
    return space


def test_progress_on_a_terminal_and_the_log_of_a_job_that_fails(space: Workspace) -> None:
    status, text = shown(space, "--until", "build_snapshot", "--logger", "rich")
    assert status == 0, text
    assert "Total Progress" in text
    assert re.search(r"build snapshot\W+100%", text)
    (space.root / "mine.jsonl").write_text("no item\n")
    status, text = shown(space, "--until", "build_snapshot", "--logger", "rich")
    assert status != 0
    assert "mine.jsonl:1" in text, "the failed job's own words are shown"


def test_without_a_terminal_it_writes_lines(space: Workspace) -> None:
    ran = space.snakemake("--until", "build_snapshot", "--logger", "rich")
    assert ran.status == 0, ran.output
    assert ran.made == {"fetch_items:mine", *(n for n in ran.made if n.startswith("snapshot:mine"))}
    assert "Workflow Finished" in ran.output
    assert "\x1b[" not in ran.output
