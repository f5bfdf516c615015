"""What a reading notes of its files, and what it makes of those it cannot use."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.core.errors import EvaluationError
from assay.evaluation.adapters import Options, Reading, read_records
from assay.evaluation.adapters.reading import find_adapter
from assay.evaluation.arms import read_runs
from assay.evaluation.manifest import CycleManifest

RUNNERS = Path(__file__).parents[3] / "data" / "runners"
FOLDERS = [
    ("lm_eval", {"filter": "strict-match", "metric": "exact_match"}),
    ("inspect", {}),
    ("lighteval", {}),
    ("swe_bench/stand-in.run.json", {}),
    ("terminal_bench", {}),
]


def digests(path: Path) -> dict[str, tuple[int, str]]:
    """Return file name → bytes and SHA-256, as another program would tell them."""
    files = [path] if path.is_file() else [place for place in path.rglob("*") if place.is_file()]
    return {
        place.name: (place.stat().st_size, hashlib.sha256(place.read_bytes()).hexdigest())
        for place in files
    }


@pytest.mark.parametrize(("name", "options"), FOLDERS)
def test_every_file_has_its_digest(name: str, options: dict[str, str]) -> None:
    path = RUNNERS / name
    reading = Reading(Options.model_validate(options), keep_going=True)
    assert list(read_records(path, reading=reading))
    found = {place.name: (file.bytes, file.sha256) for place, file in reading.inputs.files.items()}
    expected = digests(path)
    if name == "inspect":  # where there are archives, they are the logs
        expected = {key: value for key, value in expected.items() if key.endswith(".eval")}
    assert found == expected


def test_a_file_that_breaks_off_is_digested_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(b"taskId,success\n" + b"a,true\n" * 3 + b"\xff\xfe\n" + b"b,true\n" * 200_000)
    reading = Reading(keep_going=True)
    list(read_records(path, adapter="records", reading=reading))
    assert "no CSV" in str(reading.refused[0])
    assert reading.inputs.files[path].sha256 == digests(path)["r.csv"][1]


def test_a_cycle_tells_the_digests_as_the_manifest_names_the_runs(tmp_path: Path) -> None:
    shutil.copytree(RUNNERS / "terminal_bench", tmp_path / "jobs" / "one")
    session = tmp_path / "s" / "x.jsonl"
    session.parent.mkdir()
    session.write_text('{"event": "turn_start", "sessionId": "R"}\n')
    (tmp_path / "v.jsonl").write_text('{"taskId": "t", "trialId": "R", "success": true}\n')
    (tmp_path / "labels.json").write_text('{"tasks": {"t": {"taskArea": "x"}}}')
    (tmp_path / "f.yaml").write_text("version: 1\ncodes: {AGENT_EXECUTION_ERROR: capability}\n")
    manifest = CycleManifest.model_validate(
        {
            "taxonomy": "labels.json",
            "baseline": {"job": "jobs/one", "options": {"failures": "f.yaml"}},
            "experiments": [{"name": "b", "job": "s", "options": {"verdicts": "v.jsonl"}}],
        }
    )
    runs = read_runs(manifest, tmp_path, tmp_path / "records.jsonl")
    files = [[(file.path, file.sha256) for file in one.files] for one in runs.inputs]
    sha = {name: found for name, (_, found) in digests(tmp_path).items()}
    labels = ("labels.json", sha["labels.json"])
    assert files == [
        [("f.yaml", sha["f.yaml"]), ("jobs/one/results.json", sha["results.json"]), labels],
        [labels, ("s/x.jsonl", sha["x.jsonl"]), ("v.jsonl", sha["v.jsonl"])],
    ]


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _latin(path: Path) -> None:
    path.write_bytes(b"\xff\xfe" + path.read_bytes())


DAMAGES = [
    ("terminal-bench", "results.json", RUNNERS / "terminal_bench" / "results.json", _cut),
    ("swe-bench", "r.json", RUNNERS / "swe_bench" / "stand-in.run.json", _cut),
    ("inspect", "x.json", RUNNERS / "inspect" / "limits.json", _cut),
    ("inspect", "x.eval", RUNNERS / "inspect" / "toy.eval", _cut),
    ("lighteval", "details_x.parquet", next((RUNNERS / "lighteval").iterdir()), _cut),
    ("lm-eval", "samples_x.jsonl", next((RUNNERS / "lm_eval").glob("*_mc_*")), _latin),
]


@pytest.mark.parametrize(("adapter", "name", "whole", "damage"), DAMAGES)
def test_a_whole_file_that_is_damaged_is_counted_or_named(
    tmp_path: Path, adapter: str, name: str, whole: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / name
    shutil.copy(whole, path)
    damage(path)
    with pytest.raises(EvaluationError, match=name.replace(".", r"\.")):
        list(read_records(path, adapter=adapter))
    reading = Reading(keep_going=True)
    list(read_records(path, adapter=adapter, reading=reading))
    assert name in str(reading.refused[0])
    assert reading.inputs.files[path].bytes == path.stat().st_size


def test_a_damaged_first_file_does_not_hide_whose_the_folder_is(tmp_path: Path) -> None:
    for name, text in (("a", "no"), ("b", json.dumps({"task_name": "t"}))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text(text)
    assert find_adapter(tmp_path).name == "harbor"
    reading = Reading(keep_going=True)
    (record,) = read_records(tmp_path, reading=reading)
    assert (record.task_id, len(reading.refused)) == ("t", 1)


def test_a_trial_that_is_there_twice_is_no_further_attempt(tmp_path: Path) -> None:
    rows = ['{"taskId":"a","trialId":"x","success":true}', '{"taskId":"a","trialId":"y"}']
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join([*rows, rows[0]]))
    with pytest.raises(EvaluationError, match="trial 'x' of task 'a' is there twice"):
        list(read_records(path))
    reading = Reading(keep_going=True)
    found = list(read_records(path, reading=reading))
    assert [(one.trial_id, one.attempt) for one in found] == [("x", 1), ("y", 2)]
    assert len(reading.refused) == 1


def test_attempts_without_a_name_or_a_number_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"taskId":"a"}\n{"taskId":"b"}\n{"taskId":"a"}\n{"taskId":"a","attempt":9}\n')
    found = list(read_records([path, path]))
    assert [(one.task_id, one.attempt) for one in found] == [
        *(("a", 1), ("b", 1), ("a", 2), ("a", 9)),
        *(("a", 10), ("b", 2), ("a", 11), ("a", 18)),
    ]
    path.write_text('{"taskId":"a","attempt":1000000000}\n' * 2)
    assert [one.attempt for one in read_records(path)] == [1_000_000_000, 1]
