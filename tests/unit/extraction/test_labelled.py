from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.core.files import read_jsonl
from assay.extraction import extract

FLOORS = {"dev": 0.95, "heldout": 0.95}


@pytest.fixture(scope="module")
def rows(project: Path) -> list[dict[str, Any]]:
    return [row for _, row in read_jsonl(project / "tests/data/extraction_labels.jsonl")]


def accuracy(rows: list[dict[str, Any]], extractor: str) -> float:
    right = 0
    for row in rows:
        found = extract(row["text"], row["labels"], row["options"], extractor)
        right += (found.status, found.label) == (row["status"], row["label"])
    return right / len(rows)


def test_the_labelled_outputs_are_distinct_and_enough(rows: list[dict[str, Any]]) -> None:
    keys = {(row["text"], *row["labels"], *row["options"]) for row in rows}
    splits = Counter(row["split"] for row in rows)
    assert len(keys) == len(rows) >= 300
    assert splits["heldout"] >= 100


@pytest.mark.parametrize("split", ["dev", "heldout"])
def test_the_standard_extractor_agrees_with_the_reader(
    rows: list[dict[str, Any]], split: str
) -> None:
    part = [row for row in rows if row["split"] == split]
    assert accuracy(part, "standard") >= FLOORS[split]


def test_a_wrong_label_is_rarer_than_no_label(rows: list[dict[str, Any]]) -> None:
    wrong = 0
    for row in rows:
        found = extract(row["text"], row["labels"], row["options"])
        wrong += found.label is not None and found.label != row["label"]
    assert wrong / len(rows) <= 0.015


def test_the_old_rule_is_far_behind(rows: list[dict[str, Any]]) -> None:
    assert accuracy(rows, "first_match") < accuracy(rows, "standard") - 0.3
