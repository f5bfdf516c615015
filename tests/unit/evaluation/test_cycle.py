"""A whole cycle: from manifests to files that are the same every time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AssayError
from assay.core.validation import validated
from assay.evaluation.cycle import CycleReport, read_report, run_cycle
from assay.evaluation.manifest import CycleManifest
from assay.evaluation.markdown import escape
from assay.evaluation.write import write_report
from support.evaluation import HOSTILE, attempts, two_arms, write_records


def cycle(folder: Path, **value: Any) -> CycleReport:
    whole = two_arms(folder) | value
    return run_cycle(validated(CycleManifest, whole, where="m"), folder)


def test_a_better_candidate_is_deployed_and_a_worse_one_is_not(tmp_path: Path) -> None:
    good = cycle(tmp_path)
    assert [row.capability for row in good.diagnosis.weak_capabilities] == ["search", "all"][:1]
    assert [one.decision for one in good.decisions] == ["deploy"]
    (tmp_path / "worse").mkdir()
    bad = two_arms(tmp_path / "worse", better=0.1)
    report = run_cycle(validated(CycleManifest, bad, where="m"), tmp_path / "worse")
    assert [one.decision for one in report.decisions] == ["reject"]


def test_what_was_not_measured_keeps_a_candidate_back(tmp_path: Path) -> None:
    value = two_arms(tmp_path, cost_usd=None)
    report = run_cycle(validated(CycleManifest, value, where="m"), tmp_path)
    (decision,) = report.decisions
    assert decision.decision == "scoped"
    assert any(name.startswith("cost") for name in decision.not_evaluated)


def test_the_run_that_chose_a_hypothesis_confirms_nothing(tmp_path: Path) -> None:
    first = cycle(tmp_path)
    chosen = {"name": "after", "records": "after.jsonl", "hypothesisId": first.hypotheses[0].id}
    fresh = cycle(tmp_path, experiments=[chosen])
    assert fresh.decisions[0].decision == "deploy"
    reused = cycle(tmp_path, experiments=[chosen], confirmation=None)
    assert reused.decisions[0].decision != "deploy"
    assert any("a fresh run under `confirmation`" in one for one in reused.remarks)


def test_an_unknown_hypothesis_is_named_with_those_there_are(tmp_path: Path) -> None:
    wrong = {"name": "x", "records": "after.jsonl", "hypothesisId": "surface-serch"}
    with pytest.raises(AssayError, match=r"experiments\.0\.hypothesisId: unknown hypothesis"):
        cycle(tmp_path, experiments=[wrong])


def test_candidates_are_ranked_by_what_they_gain_for_their_cost(tmp_path: Path) -> None:
    value = two_arms(tmp_path)
    dear = [
        one.model_copy(update={"total_tokens": 40_000, "cost_usd": 1.0})
        for one in attempts({"search": 0.85, "edit": 0.9}, seed=3)
    ]
    write_records(tmp_path / "dear.jsonl", dear)
    first = value["experiments"][0]
    report = cycle(
        tmp_path, experiments=[{**first, "name": "dear", "records": "dear.jsonl"}, first]
    )
    assert [one.name for one in report.experiments] == ["dear", "after"]
    assert [one.name for one in report.decisions] == ["after", "dear"]


def test_the_cycle_before_is_compared(tmp_path: Path) -> None:
    write_report(cycle(tmp_path), tmp_path / "last")
    fewer = attempts({"search": 0.8, "edit": 0.9}, seed=7)
    write_records(tmp_path / "before.jsonl", fewer)
    value = {"previous": "last/cycle-report.json", "baseline": {"records": "before.jsonl"}}
    whole = {"cycleId": "c2", **value}
    report = run_cycle(validated(CycleManifest, whole, where="m"), tmp_path)
    assert report.comparison is not None
    assert report.comparison.codes[0].count_delta < 0


def test_the_same_inputs_give_the_same_bytes_anywhere(tmp_path: Path) -> None:
    contents = []
    for place in (tmp_path / "a", tmp_path / "deep" / "b"):
        place.mkdir(parents=True)
        files, _ = write_report(cycle(place), place / "out")
        contents.append({path.name: path.read_bytes() for path in files})
        assert not any(str(tmp_path).encode() in content for content in contents[-1].values())
    assert contents[0] == contents[1]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    report = cycle(tmp_path)
    write_report(report, tmp_path / "out")
    again = read_report(tmp_path / "out" / "cycle-report.json")
    assert again == report
    codes = next(iter(again.diagnosis.failure_regions)).failure_codes
    assert list(codes.values()) == sorted(codes.values(), reverse=True)
    (tmp_path / "out" / "cycle-report.json").write_text('{"schemaVersion": 7}')
    with pytest.raises(AssayError, match="not a cycle's report of this version"):
        read_report(tmp_path / "out" / "cycle-report.json")


def test_a_task_s_name_is_text_in_markdown(tmp_path: Path) -> None:
    records = attempts({"search": 0.3}, tasks=4)
    records[0] = records[0].model_copy(update={"task_id": HOSTILE, "capability_tags": ("a|b`*",)})
    write_records(tmp_path / "h.jsonl", records)
    whole = {"cycleId": "<b>c</b>", "baseline": {"records": "h.jsonl"}}
    report = run_cycle(validated(CycleManifest, whole, where="m"), tmp_path)
    write_report(report, tmp_path / "out")
    text = (tmp_path / "out" / "cycle-report.md").read_text("utf-8")
    assert "<" not in text
    rows = [line for line in text.splitlines() if "planted" in line]
    assert rows
    assert all(line.replace(r"\|", "").count("|") == 9 for line in rows)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("<i>&", "&lt;i&gt;&amp;"),
        ("a\nb\x1b[31m", r"a b \[31m"),
        ("[x](y)`*", r"\[x\](y)\`\*"),
    ],
)
def test_escapes(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_the_prompt_is_bounded_by_the_manifest_and_written_with_the_report(
    tmp_path: Path,
) -> None:
    report = cycle(tmp_path)
    files, prompt = write_report(report, tmp_path / "out", max_tokens=4000)
    assert files[-1].read_text("utf-8") == prompt.text
    assert len(prompt.text.encode()) <= 4000
    value = json.loads((tmp_path / "out" / "cycle-report.json").read_text())
    assert value["decisions"][0]["decision"] in prompt.text
