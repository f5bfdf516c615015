"""Manifests: what is read, and what is refused with which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AssayError
from assay.evaluation.manifest import CycleManifest, read_manifest

ARM = {"job": "runs/base"}


def written(folder: Path, value: Any, name: str = "spring.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_a_manifest_is_named_by_its_file_where_it_says_nothing(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path, {"baseline": ARM}))
    assert manifest.cycle_id == "spring"
    assert manifest.policy == "statistical"
    assert [key for key, _, _ in manifest.arms()] == ["baseline"]


def test_the_bridge_s_manifest_with_records_is_read(tmp_path: Path) -> None:
    value = {
        "cycleId": "c7",
        "source": "eval-loop",
        "records": "records.jsonl",
        "baseline": {"name": "baseline", "records": "baseline-records.jsonl", "count": 12},
        "experiments": [
            {"name": "try", "hypothesisId": "H1", "records": "candidate-records.jsonl", "count": 9}
        ],
    }
    manifest = read_manifest(written(tmp_path, value))
    assert manifest.baseline.count == 12
    assert manifest.experiments[0].sources == ("candidate-records.jsonl",)
    assert manifest.experiments[0].hypothesis_id == "H1"


def test_yaml_says_the_same_as_json(tmp_path: Path) -> None:
    text = "cycleId: spring\nbaseline: {job: runs/base}\npolicy: {base: statistical}\n"
    value = {"cycleId": "spring", "baseline": ARM, "policy": {"base": "statistical"}}
    read = read_manifest(written(tmp_path, text, "a.yaml"))
    assert read == read_manifest(written(tmp_path, value))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"baseline": ARM, "cycleID": "x"}, "unknown key 'cycleID' (did you mean 'cycleId'?)"),
        ({"baseline": {"jobs": "a"}}, "unknown key 'baseline.jobs' (did you mean 'job'?)"),
        (
            {"baseline": ARM, "experiments": [{**ARM, "hypothesisid": "H1"}]},
            "unknown key 'experiments.0.hypothesisid' (did you mean 'hypothesisId'?)",
        ),
        ({"experiments": []}, "key 'baseline' is missing"),
        ({"baseline": {"job": "a", "records": "b"}}, "give either job or records"),
        ({"baseline": {"job": []}}, "give job or records"),
        ({"baseline": ARM, "experiments": [{"name": "x"}]}, "give job or records"),
        ({"baseline": ARM, "experiments": [ARM, ARM]}, "candidate names two experiments"),
        (
            {"baseline": ARM, "experiments": [{**ARM, "hypothesisId": "H", "hypothesis": {}}]},
            "give hypothesisId or hypothesis, not both",
        ),
        ({"baseline": {**ARM, "count": -1}}, "greater than or equal to 0"),
        ([ARM], "a manifest is a mapping"),
        ("{", "not valid JSON"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, value: Any, message: str) -> None:
    path = written(tmp_path, value)
    with pytest.raises(AssayError) as error:
        read_manifest(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("llm", "message"),
    [
        ({"apiKeyEnv": "sk-live-12345678"}, "name an environment variable in capitals"),
        ({"headers": {"Authorization": "Bearer sk-live-12345678"}}, "a key is no header"),
        ({"request": {"api_key": "sk-live-12345678"}}, "a key is no field"),
        ({"endpoint": "https://u:sk-live-12345678@h/v1/responses"}, "holds no user"),
        ({"request": {"messages": []}}, "messages is set by Assay"),
        ({"endpoint": "https://h/v1"}, "ends in /responses or /chat/completions"),
        ({"endpoint": "file:///etc/responses"}, "begins with http:// or https://"),
    ],
)
def test_a_key_is_refused_and_not_repeated(
    tmp_path: Path, llm: dict[str, Any], message: str
) -> None:
    value = {"baseline": ARM, "llm": {"model": "m"} | llm}
    with pytest.raises(AssayError) as error:
        read_manifest(written(tmp_path, value))
    assert message in str(error.value)
    assert "sk-live" not in str(error.value)


def test_a_part_of_the_baseline_s_run_is_an_arm_and_read_once(tmp_path: Path) -> None:
    part = {"filters": {"variants": ["new"]}, "replaces": {"variants": ["old"]}}
    manifest = read_manifest(written(tmp_path, {"baseline": ARM, "experiments": [part]}))
    arms = {key: (arm.sources, filters) for key, arm, filters in manifest.arms()}
    assert list(arms) == ["baseline", "experiments.0", "replaced.0"]
    assert all(sources == ("runs/base",) for sources, _ in arms.values())
    assert [one.variants for one in arms["replaced.0"][1]] == [(), ("old",)]
    assert len(manifest.runs()) == 1
    assert manifest.compared_with(0) == "replaced.0"


def test_the_schema_knows_the_keys_as_files_have_them() -> None:
    schema = CycleManifest.model_json_schema()
    assert {"cycleId", "baseline", "experiments", "llm"} <= set(schema["properties"])
    assert schema["additionalProperties"] is False
