"""What that project's own validator says of our files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.export import read_cells, write_every_eval_ever
from assay.leaderboard import load
from support.peers import run_peer

VALIDATE = ["-m", "every_eval_ever.validator.validate", "--format", "json"]


def validate(peer: Path, folder: Path) -> tuple[int, list[dict]]:
    done = run_peer(peer, [*VALIDATE, "data/*/*/*/*"], folder=folder)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("source", ["twin", "odd"])
def test_their_validator_accepts_it(
    source: str, request: pytest.FixtureRequest, tmp_path: Path, every_eval_ever: Path
) -> None:
    root = request.getfixturevalue(source)
    cells = read_cells([root], allow_missing=True)
    paths = write_every_eval_ever(cells, tmp_path / "out", created=1_800_000_000)
    status, reports = validate(every_eval_ever, tmp_path / "out")
    assert [r for r in reports if r["errors"] or r["warnings"]] == []
    assert (status, len(reports)) == (0, len(paths)) == (0, 2 * len(cells))


def test_their_validator_would_notice(odd: Path, tmp_path: Path, every_eval_ever: Path) -> None:
    cells = read_cells([odd], allow_missing=True)
    paths = write_every_eval_ever(cells, tmp_path, created=1)
    samples = next(path for path in paths if path.name.endswith("_samples.jsonl"))
    kept = samples.read_text("utf-8").splitlines(keepends=True)[:-1]
    samples.write_text("".join(kept), "utf-8")
    status, reports = validate(every_eval_ever, tmp_path)
    assert status == 1
    said = " ".join(error["msg"] for report in reports for error in report["errors"])
    assert "declared 8, found 7" in said


def test_scores_are_the_means_of_the_bits(twin: Path, tmp_path: Path) -> None:
    paths = write_every_eval_ever(read_cells([twin]), tmp_path, created=1)
    data = load(sorted(path.parent for path in twin.rglob("manifest.json")))
    compared = 0
    for path in (path for path in paths if path.suffix == ".json"):
        aggregate = json.loads(path.read_text("utf-8"))
        m = data.models.index(aggregate["model_info"]["name"])
        items = data.benchmark_of == path.parts[-4]
        for result in aggregate["evaluation_results"]:
            keys = [way.key for way in data.configurations]
            c = keys.index(result["evaluation_result_id"])
            bits = data.right[m, items, c][data.present[m, items, c]]
            score, spread = result["score_details"]["score"], result["score_details"]["uncertainty"]
            assert score == pytest.approx(bits.mean())
            assert spread["num_samples"] == len(bits)
            interval = spread["confidence_interval"]
            assert interval["lower"] < score < interval["upper"]
            assert result["metric_config"]["additional_details"] == {"extractor": "standard"}
            compared += 1
    assert compared == 2 * 2 * 26


def test_a_missing_answer_is_counted_and_has_no_row(odd: Path, tmp_path: Path) -> None:
    paths = write_every_eval_ever(read_cells([odd], allow_missing=True), tmp_path, created=1)
    aggregate, samples = next(
        (a, s) for a, s in zip(paths[::2], paths[1::2], strict=True) if "second" in a.parts
    )
    rows = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    # Three items under three configurations, less one missing and one not applicable.
    assert len(rows) == 7
    details = {
        result["evaluation_result_id"]: result["score_details"]["details"]
        for result in json.loads(aggregate.read_text("utf-8"))["evaluation_results"]
    }
    assert details == {
        "gen|f|p0": {"missing": "1"},
        "gen|f|p1": {"not_applicable": "1"},
        "ll|cloze": {},
    }
    unread = next(r for r in rows if r["error"])
    assert unread["error"] == "none"
    assert unread["answer_attribution"][0]["extracted_value"] == ""
    assert unread["evaluation"] == {"score": 0.0, "is_correct": False}


def test_options_stand_in_the_order_shown(odd: Path, tmp_path: Path) -> None:
    paths = write_every_eval_ever(read_cells([odd], allow_missing=True), tmp_path, created=1)
    samples = next(path for path in paths[1::2] if "first" in path.parts)
    rows = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    shifted = next(
        r for r in rows if (r["sample_id"], r["evaluation_result_id"]) == ("i3", "gen|f|p1")
    )
    assert shifted["input"] == {
        "raw": "What is i3?",
        "formatted": "What is i3? (gen|f|p1)",
        "reference": ["option 0"],
        "choices": ["option 1", "option 2", "option 0"],
    }
    assert shifted["output"] == {"raw": ["C"]}
    assert shifted["token_usage"] == {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}


def test_the_same_export_gives_the_same_bytes(twin: Path, tmp_path: Path) -> None:
    once, twice = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in write_every_eval_ever(read_cells([twin]), tmp_path / name, created=5)
        }
        for name in ("once", "twice")
    )
    assert once == twice
