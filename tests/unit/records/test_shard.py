from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from assay.core.errors import AssayError, RecordError
from assay.records.schema import Observation, Record
from assay.records.shard import Prompt, read_shard, write_shard

FACTS: dict[str, Any] = {
    "model": "m",
    "benchmark": "b",
    "reference": "gen|letter_plain|p0",
    "configurations": {"gen|letter_plain|p0": {}},
    "labels": {"letter_plain": "upper"},
    "snapshot_sha256": "0" * 64,
    "provenance": {},
}


def record(item_id: str, **changes: Any) -> Record:
    observation = Observation(key="k", status="ok", correct=True, choice=0, text="A\u2028")
    values: dict[str, Any] = {
        "benchmark": "b",
        "model": "m",
        "item_id": item_id,
        "native_id": item_id,
        "question": "Which?",
        "options": ("x", "y"),
        "gold": 0,
        "accepts": (0,),
        "subject": "s",
        "cluster": item_id,
        "locked": False,
        "flags": (),
        "observations": {"gen|letter_plain|p0": observation},
    }
    return Record(**values | changes)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prompts = [Prompt("i2", "gen|letter_plain|p0", "Q2"), Prompt("i1", "gen|letter_plain|p0", "Q")]
    write_shard(tmp_path, [record("i2"), record("i1")], prompts, FACTS)
    return tmp_path


def test_a_shard_reads_back_sorted(folder: Path) -> None:
    shard = read_shard(folder)
    assert [r.item_id for r in shard.records()] == ["i1", "i2"]
    assert shard.prompts()["i2", "gen|letter_plain|p0"] == "Q2"
    assert shard.manifest.statuses == {"gen|letter_plain|p0": {"ok": 2}}


def test_order_of_records_does_not_change_a_byte(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    prompts = [Prompt("i1", "gen|letter_plain|p0", "Q"), Prompt("i2", "gen|letter_plain|p0", "Q2")]
    write_shard(other, [record("i1"), record("i2")], prompts, FACTS)
    for name in ("records.jsonl", "prompts.parquet", "manifest.json"):
        assert (other / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize("name", ["records.jsonl", "prompts.parquet"])
@pytest.mark.parametrize("damage", ["truncated", "edited", "missing"])
def test_a_damaged_file_is_refused_by_name(folder: Path, name: str, damage: str) -> None:
    path = folder / name
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        changed = data[:-5] if damage == "truncated" else data[:-5] + b"?" + data[-4:]
        path.write_bytes(changed)
    with pytest.raises(RecordError, match=name):
        read_shard(folder)


def test_an_unfinished_shard_is_refused(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    with pytest.raises(RecordError, match="never finished"):
        read_shard(folder)


def test_a_damaged_manifest_is_refused(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"complete": true', '"complete": false'))
    with pytest.raises(RecordError, match="not marked complete"):
        read_shard(folder)
    path.write_text("{")
    with pytest.raises(AssayError, match="not valid JSON"):
        read_shard(folder)


def test_duplicate_items_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="i1 occurs twice"):
        write_shard(tmp_path, [record("i1"), record("i1")], [], FACTS)
    assert not (tmp_path / "manifest.json").exists()


@pytest.mark.parametrize(
    ("status", "correct"),
    [("none", True), ("nonfinite", True), ("oom", False), ("not_applicable", False), ("ok", None)],
)
def test_only_ok_can_be_right_and_missing_is_not_wrong(status: Any, correct: Any) -> None:
    with pytest.raises(ValidationError):
        Observation(key="k", status=status, correct=correct)
