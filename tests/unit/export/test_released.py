from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.export import read_cells, write_released
from assay.leaderboard import Correctness, load, load_released
from assay.leaderboard.audit import ExtractionAudit
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE

from .conftest import shard


def shards(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.rglob("manifest.json"))


def lines(out: Path, name: str) -> list[dict]:
    text = (out / "records" / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def same(exported: Correctness, original: Correctness) -> None:
    assert exported.models == original.models
    assert exported.items == original.items
    assert exported.configurations == original.configurations
    assert exported.reference == original.reference
    assert np.array_equal(exported.values, original.values)


def test_the_bits_come_back(twin: Path, tmp_path: Path) -> None:
    write_released(read_cells([twin]), tmp_path)
    original, exported = load(shards(twin)), load_released(tmp_path)
    same(exported, original)
    assert np.array_equal(exported.gold_slots, original.gold_slots)
    assert (original.values == NOT_APPLICABLE).any()


def test_odd_items_and_missing_answers_come_back(odd: Path, tmp_path: Path) -> None:
    write_released(read_cells([odd], allow_missing=True), tmp_path)
    original = load(shards(odd), allow_missing=True)
    exported = load_released(tmp_path, allow_missing=True)
    same(exported, original)
    assert {item.options for item in exported.items} == {2, 3, 5}
    assert (exported.values == MISSING).sum() == 1
    with pytest.raises(AnalysisError, match="1 single observations, such as of second on odd"):
        load_released(tmp_path)


def test_a_line_is_what_the_release_says(odd: Path, tmp_path: Path) -> None:
    write_released(read_cells([odd], allow_missing=True), tmp_path)
    five = next(line for line in lines(tmp_path, "odd__second") if line["item_id"] == "i5")
    assert five == {
        "benchmark": "odd",
        "model": "second",
        "item_id": "i5",
        "question": "What is i5?",
        "gold": 0,
        "bits": {"gen|f|p0": 0, "ll|cloze": 1},
        "ll_margin": 1.0,
        "n_gen_unparsed": 1,
        "extractor": "standard",
        "options": 5,
        "cluster": "twins-1",
        "subject": "s",
        "not_applicable": ["gen|f|p1"],
    }
    legend = json.loads((tmp_path / "config_legend.json").read_text("utf-8"))
    assert legend.pop("_meta") == {
        "ref_config": "gen|f|p0",
        "extractor": "standard",
        "ll_margin": "ll|cloze",
        "labels": {"f": "upper"},
    }
    assert legend["gen|f|p1"] == {
        "key": "gen|f|p1",
        "scoring": "gen",
        "fmt": "f",
        "perm_index": 1,
        "perm": [1, 2, 3, 0],
    }


def test_bits_follow_their_extractor_and_name_it(twin: Path, tmp_path: Path) -> None:
    """Two routes to the old rule's verdicts: the audit of the texts, and an export."""
    audit = ExtractionAudit()
    load(shards(twin), observer=audit)
    write_released(read_cells([twin], extractor="first_match"), tmp_path)
    found = lines(tmp_path, "arc__twin-01")
    assert {line["extractor"] for line in found} == {"first_match"}
    right = sum(bit for x in found for key, bit in x["bits"].items() if key.startswith("gen"))
    assert right == audit.tallies["twin-01", "arc", "first_match"].right
    assert right != audit.tallies["twin-01", "arc", "standard"].right


def test_what_cannot_be_exported_is_refused(odd: Path, tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="1 observations have no answer"):
        read_cells([odd])
    with pytest.raises(AnalysisError, match="no extractor 'best'.*standard"):
        read_cells([odd], extractor="best")
    nowhere = tmp_path / "odd" / "nowhere"
    with pytest.raises(AnalysisError, match="nowhere: there is no finished shard here"):
        read_cells([odd / "first", nowhere])
    assert len(read_cells([odd / "first", nowhere], allow_missing=True)) == 1
    with pytest.raises(AnalysisError, match="there are no shards here"):
        read_cells([nowhere], allow_missing=True)


def test_a_name_that_cannot_be_taken_apart_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from . import conftest

    monkeypatch.setitem(conftest.FACTS, "benchmark", "a__b")
    records = [conftest.record("m", "i3", 3).model_copy(update={"benchmark": "a__b"})]
    cells = read_cells([shard(tmp_path / "r", "m", records)])
    with pytest.raises(AnalysisError, match="another key"):
        write_released(cells, tmp_path / "out")


def test_a_replicate_is_no_configuration_of_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from . import conftest

    again = "gen|f|p0|again"
    ways = conftest.WAYS | {again: conftest.WAYS["gen|f|p0"] | {"role": "again"}}
    monkeypatch.setitem(conftest.FACTS, "configurations", ways)
    record = conftest.record("m", "i3", 3)
    observations = record.observations | {again: record.observations["gen|f|p0"]}
    records = [record.model_copy(update={"observations": observations})]
    write_released(read_cells([shard(tmp_path / "r", "m", records)]), tmp_path / "out")
    assert sorted(lines(tmp_path / "out", "odd__m")[0]["bits"]) == sorted(conftest.WAYS)
    assert len(load_released(tmp_path / "out").configurations) == 3
