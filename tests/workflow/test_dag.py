"""What the workflow plans, before anything runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support.workspace import Ran, Workspace

pytestmark = pytest.mark.workflow


@pytest.fixture
def space(project: Path, assay_cache: Path, tmp_path: Path) -> Workspace:
    return Workspace.create(project, tmp_path / "w", assay_cache)


def planned(ran: Ran) -> dict[str, int]:
    """Read the job counts off a dry run."""
    table = re.findall(r"^(\w+) +(\d+)$", ran.output, flags=re.MULTILINE)
    return {rule: int(count) for rule, count in table}


def dry_run(space: Workspace, *files: str) -> Ran:
    return space.snakemake("-n", "--configfile", *files)


def test_the_embedded_default(space: Workspace) -> None:
    jobs = planned(dry_run(space, "config/config.yaml"))
    assert jobs["collect"] == 12
    assert jobs["build_snapshot"] == jobs["fetch_items"] == 4
    assert jobs["analyze_leaderboard"] == jobs["build_report"] == 1


def test_the_paper_shape(space: Workspace) -> None:
    ran = dry_run(space, "config/paper.yaml")
    assert ran.status == 0, ran.output
    jobs = planned(ran)
    assert jobs["collect"] == 12 * 4
    assert jobs["fetch_model"] == 12
    assert jobs["build_snapshot"] == 4


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("modles", ["x"], "unknown key 'modles' (did you mean 'models'?)"),
        ("models", ["smollm2-135"], "Did you mean 'smollm2-135m'?"),
        ("decode", {"max_new_tokens": "eight"}, "decode.max_new_tokens: "),
        ("benchmarks", [{"key": "nope"}], "unknown benchmark 'nope'"),
    ],
)
def test_a_wrong_run_file_stops_the_dry_run(
    space: Workspace, key: str, value: Any, message: str
) -> None:
    space.config[key] = value
    ran = space.snakemake("-n")
    assert ran.status != 0
    assert message in ran.output
    assert "Traceback" not in ran.output
    assert not (space.root / "results").exists()


def test_a_missing_items_file_is_named(space: Workspace) -> None:
    (space.root / "mine.jsonl").unlink()
    ran = space.snakemake("-n")
    assert ran.status != 0
    assert "mine.jsonl" in ran.output


def test_every_rule_says_what_it_does_and_what_it_needs(project: Path) -> None:
    for path in project.glob("workflow/rules/*.smk"):
        text = path.read_text("utf-8")
        rules = len(re.findall(r"^ *rule\b", text, flags=re.MULTILINE))
        for directive in ("log", "benchmark", "threads", "resources", "message", "conda"):
            found = len(re.findall(rf"^ +{directive}:", text, flags=re.MULTILINE))
            assert found == rules, f"{path.name}: {directive}"
