"""What a taxonomy says of tasks, by name, by rule, and by default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.core.errors import AssayError
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.taxonomy import load_taxonomy

TAXONOMY = {
    "schemaVersion": 1,
    "tasks": {"search": {"taskArea": "navigation", "capabilityTags": ["find", "read"]}},
    "rules": [
        {"match": "edit-*", "task_area": "editing", "expectedSuccessRate": 0.9},
        {"match": "*", "capabilityTags": ["rest"]},
    ],
    "defaults": {"expectedSuccessRate": 0.7},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "capabilities.json"
    place.write_text(json.dumps(TAXONOMY), "utf-8-sig")
    return place


def labelled(path: Path, task: str) -> tuple[str, tuple[str, ...], float | None]:
    record = load_taxonomy(path).label(EvaluationRecord(task_id=task, task_area="own"))
    return record.task_area, record.capability_tags, record.expected_success_rate


def test_names_before_rules_before_defaults(path: Path) -> None:
    assert labelled(path, "search") == ("navigation", ("find", "read"), 0.7)
    assert labelled(path, "org/search") == ("navigation", ("find", "read"), 0.7)
    assert labelled(path, "edit-1") == ("editing", ("unlabeled",), 0.9)
    assert labelled(path, "other") == ("own", ("rest",), 0.7)


def test_tasks_that_nothing_speaks_of(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("tasks: {a: {taskArea: x}}")
    taxonomy = load_taxonomy(tmp_path / "t.yaml")
    assert taxonomy.unknown(["b", "a", "b", "c/a"]) == ("b",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "a mapping with `tasks` or `rules`"),
        ("{}", "a mapping with `tasks` or `rules`"),
        ("a: [", "no taxonomy"),
        ('{"tasks": {"a": {"area": "x"}}}', "unknown key 'tasks.a.area'"),
        ('{"tasks": {"a": {"expectedSuccessRate": 2}}}', "expectedSuccessRate"),
        ('{"tasks": {"a": {"capabilityTags": []}}}', "capabilityTags"),
        ('{"rules": [{"taskArea": "x"}]}', "match"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(AssayError, match=problem):
        load_taxonomy(tmp_path / "t.json")
    with pytest.raises(AssayError):
        load_taxonomy(tmp_path / "none.json")
