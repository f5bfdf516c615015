from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from assay.core.command import run_command


def parsed(*argv: str) -> argparse.Namespace:
    seen: list[argparse.Namespace] = []
    parser = argparse.ArgumentParser()
    parser.add_argument("--shards", nargs="+")

    def work(arguments: argparse.Namespace) -> list[Path]:
        seen.append(arguments)
        return []

    assert run_command(work, parser, argv) == 0
    return seen[0]


@pytest.mark.parametrize("word", ["a b", "line\nfeed", "\u2028", "'", '{"a": "@b"}', "@c", ""])
def test_arguments_come_from_a_file_as_they_are(tmp_path: Path, word: str) -> None:
    file = tmp_path / "arguments"
    file.write_text(f"--shards\0{word}\0x\0", encoding="utf-8")
    found = parsed("--spec", "s", f"@{file}", "--code", "c")
    assert (found.spec, found.shards, found.code) == ("s", [word, "x"], "c")


def test_a_shell_gives_more_than_a_program_may_be_given(project: Path) -> None:
    """As the rules of a study with 20,000 shards do."""
    shards = " ".join(f"results/records/model-{k:05d}/benchmark/{k:012x}" for k in range(20_000))
    spec = "x" * 1_200_000
    script = project / "scripts/analyze_leaderboard.py"
    command = (
        f"{sys.executable} {script} --out out @<(printf '%s\\0' --spec {spec} --shards {shards})"
    )
    done = subprocess.run(
        ["bash", "-s"], input=command, capture_output=True, text=True, check=False
    )
    assert "Argument list too long" not in done.stderr
    assert "json.decoder.JSONDecodeError" in done.stderr  # it was given, and read
