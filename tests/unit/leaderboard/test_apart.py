from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.files import read_json, write_json
from assay.core.seal import DataFile
from assay.leaderboard import analyze
from assay.leaderboard.codes import MISSING, RIGHT, WRONG
from assay.leaderboard.load import load

from .builders import write_tiny_shard

KEYS = ("gen|c|p0", "gen|f|p0", "gen|f|p0|again", "gen|g|p0", "ll|s|p0", "ll|s|p1")
REMARKS: dict[str, dict[str, Any]] = {
    "gen|c|p0": {"role": "choices_only"},
    "gen|f|p0|again": {"role": "again"},
    "gen|f|p0": {"matched": True},
    "gen|g|p0": {"matched": True},
    "ll|s|p0": {"scored": "label"},
    "ll|s|p1": {"scored": "label"},
}


def shard(root: Path, model: str, rows: dict[int, list[str]], lengths: tuple[int, int]) -> Path:
    """Write a shard with a control, a replicate, matched formats and scored labels."""
    folder = write_tiny_shard(root, model, "b", rows, keys=KEYS)
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for number, line in enumerate(lines):
        seen = line["observations"]
        for key, length in zip(("gen|f|p0", "gen|g|p0"), lengths, strict=True):
            seen[key]["prompt_tokens"] = length
        for key in ("ll|s|p0", "ll|s|p1"):
            sums = [-1.0 - option - number / 8 for option in range(3)]
            seen[key]["scores"] = {"sum": sums, "token": sums, "byte": sums}
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    manifest = read_json(folder / "manifest.json")
    for key, remark in REMARKS.items():
        manifest["configurations"][key] |= remark
    manifest["labels"] |= {"c": "upper", "s": "upper"}
    described = DataFile.of(folder / "records.jsonl")
    manifest["files"]["records.jsonl"] = described.model_dump(mode="json")
    write_json(folder / "manifest.json", manifest)
    return folder


ROWS = {
    0: ["wrong", "right", "right", "right", "right", "wrong"],
    1: ["right", "right", "wrong", "wrong", "right", "right"],
    2: ["oom", "wrong", "wrong", "right", "wrong", "right"],
}


def test_what_is_no_way_to_ask_is_kept_apart(tmp_path: Path) -> None:
    data = load([shard(tmp_path, "m", ROWS, (7, 7))], allow_missing=True)
    keys = [way.key for way in data.configurations]
    assert keys == ["gen|f|p0", "gen|g|p0", "ll|s|p0", "ll|s|p1"]
    assert data.reference_configuration.key == "gen|f|p0"
    assert set(data.labels) == {"f", "g"}
    assert data.apart.again is not None
    assert data.apart.again.tolist() == [[RIGHT, WRONG, WRONG]]
    assert {k: v.tolist() for k, v in data.apart.controls.items()} == {
        "gen|c|p0": [[WRONG, RIGHT, MISSING]]
    }
    assert data.apart.matched == ("f", "g")


def test_label_probabilities_stand_where_the_labels_were_shown(tmp_path: Path) -> None:
    data = load([shard(tmp_path, "m", ROWS, (7, 7))], allow_missing=True)
    scores = data.apart.labels["s"]
    assert scores.columns == (2, 3)
    # p1 shows the options in reverse; the scores of option k are -1 - k in the first item.
    assert scores.orders[0].tolist() == [[0, 1, 2], [2, 1, 0]]
    assert scores.log_probs[0, 0].tolist() == [[-1, -2, -3], [-3, -2, -1]]


def test_formats_that_are_not_of_one_length_are_not_matched(tmp_path: Path) -> None:
    same = shard(tmp_path, "m", ROWS, (7, 7))
    other = shard(tmp_path, "n", ROWS, (7, 8))
    assert load([same, other], allow_missing=True).apart.matched == ()


def test_a_study_of_plain_ways_has_nothing_apart(tmp_path: Path) -> None:
    data = load([write_tiny_shard(tmp_path, "m", "b", {0: ["right"] * 5})])
    assert (data.apart.again, data.apart.controls, data.apart.labels) == (None, {}, {})
    assert data.apart.matched == ()


@pytest.mark.slow
def test_they_are_among_the_findings_and_in_no_band(tmp_path: Path) -> None:
    rows = {n: ROWS[n % 2] for n in range(24)}
    shards = [shard(tmp_path, name, rows, (7, 7)) for name in ("m", "n")]
    found = analyze(shards, study="s", seed=1)
    names = [finding.name for finding in found.summary.findings["b"]]
    assert {"replicate", "choices_only", "label_prior"} <= set(names)
    assert set(found.tables["accuracy"]["configuration"]) == {
        "gen|f|p0",
        "gen|g|p0",
        "ll|s|p0",
        "ll|s|p1",
    }
    assert (found.tables["replicate"]["noise"] == 0.5).all()
    assert (found.tables["choices_only"]["accuracy"] == 0.5).all()
    wrapped = next(f for f in found.summary.findings["b"] if f.name == "wrappers")
    assert "of one length" in wrapped.reading
