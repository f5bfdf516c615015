from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.core.files import read_jsonl
from assay.extraction import extract

ROWS = [
    row
    for _, row in read_jsonl(
        Path(__file__).resolve().parents[2] / "data" / "extraction_cases.jsonl"
    )
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row["text"])[:60])
def test_every_row_of_the_specification(row: dict[str, Any]) -> None:
    found = extract(row["text"], row["labels"], row["options"])
    assert (found.status, found.label) == (row["status"], row["label"])
    assert found.rule == row.get("rule", found.rule)


def test_the_copy_is_the_specification(shared: Path, project: Path) -> None:
    ours = (project / "tests/data/extraction_cases.jsonl").read_bytes()
    assert ours == (shared / "spec" / "extraction_cases.jsonl").read_bytes()
