"""A user's own model folder and own items, by a few lines of a run file."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from support.embedded import embedded
from support.workspace import Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.model]


@pytest.fixture
def space(project: Path, assay_cache: Path, tmp_path: Path) -> Workspace:
    space = Workspace.create(project, tmp_path / "w", assay_cache)
    _, files = embedded(project, assay_cache)
    # A folder of the user's: the same files under another place, not in the cache.
    own = tmp_path / "my-model"
    own.mkdir()
    for file in files.folder.iterdir():
        os.link(file, own / file.name)
    with (space.root / "exam.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "a", "b", "c", "key"])
        writer.writerow(["Which of these is a metal?", "Wood", "Iron", "Glass", "B"])
        writer.writerow(["What do bees make?", "Honey", "Milk", "", "A"])
    space.config["models"] = ["mine"]
    space.config["benchmarks"] = [{"key": "exam"}]
    space.config["define"] = {
        "models": {
            "mine": {
                "family": "llama",
                "licence": "mine",
                "source": {"kind": "path", "path": str(own)},
            }
        },
        "benchmarks": {
            "exam": {
                "source": {"kind": "path", "path": "exam.csv"},
                "adapter": "generic",
                "licence": "mine",
                "columns": {"options": ["a", "b", "c"], "answer": "key", "answer_kind": "label"},
            }
        },
    }
    return space


def test_an_own_model_and_own_items_end_in_a_report(space: Workspace) -> None:
    ran = space.snakemake()
    assert ran.status == 0, ran.output
    shard = space.shard("mine", "exam")
    records = [json.loads(line) for line in (shard / "records.jsonl").read_text().splitlines()]
    assert sorted(tuple(record["options"]) for record in records) == [
        ("Honey", "Milk"),
        ("Wood", "Iron", "Glass"),
    ]
    (report,) = (space.root / "results").glob("test-*/report/index.html")
    # A licence that is not known to allow it keeps the questions out until the user says so.
    assert "licence: mine" in report.read_text("utf-8")
    space.config["report"] = {"embed_items": "all"}
    assert space.snakemake().made == {"report"}
    assert "licence: mine" not in report.read_text("utf-8")
    # No record, table or page says where the user keeps the model.
    for path in (space.root / "results").rglob("*"):
        if path.suffix in (".jsonl", ".csv", ".html") and path.is_file():
            assert str(space.root.parent) not in path.read_text("utf-8"), path


def test_a_row_with_a_wrong_key_is_named(space: Workspace) -> None:
    path = space.root / "exam.csv"
    path.write_text(path.read_text().replace("Glass,B", "Glass,E"))
    ran = space.snakemake()
    assert ran.status != 0
    assert "exam.csv:2" in ran.output
    assert not list((space.root / "results").glob("snapshots/exam/*/seal.json"))
