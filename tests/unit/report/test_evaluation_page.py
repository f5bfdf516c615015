"""The evaluation page: whole, safe, the same every time, and without anything from elsewhere."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.core.validation import validated
from assay.evaluation.cycle import CycleReport, run_cycle
from assay.evaluation.equal_arms import calibrate
from assay.evaluation.manifest import CycleManifest
from assay.evaluation.policy import load_policy
from assay.report.evaluation import write_page
from assay.report.evaluation_charts import evaluation_charts
from support.evaluation import HOSTILE, attempts, two_arms, write_records


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CycleReport:
    folder = tmp_path_factory.mktemp("cycle")
    value = two_arms(folder)
    return run_cycle(validated(CycleManifest, value, where="m"), folder)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> CycleReport:
    folder = tmp_path_factory.mktemp("hostile")
    records = [
        one.model_copy(
            update={"task_id": HOSTILE + one.task_id, "task_area": HOSTILE,
                    "capability_tags": (HOSTILE,), "failure_code": HOSTILE}
        )
        for one in attempts({"a": 0.4}, tasks=8)
    ]  # fmt: skip
    write_records(folder / "a.jsonl", records)
    whole = {"cycleId": HOSTILE, "baseline": {"name": HOSTILE, "records": "a.jsonl"}}
    return run_cycle(validated(CycleManifest, whole, where="m"), folder)


def page(reports: list[CycleReport], folder: Path, **options: Any) -> str:
    return write_page(reports, folder / "evaluation.html", **options).read_text("utf-8")


def outside_scripts(text: str) -> str:
    return re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


def test_a_page_says_the_decision_first(report: CycleReport, tmp_path: Path) -> None:
    text = page([report], tmp_path)
    first = text.index("after: deploy")
    assert first < text.index("The baseline succeeds in")
    assert report.inputs[0].sha256 in text


def test_two_writings_are_the_same_bytes(report: CycleReport, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    assert page([report], tmp_path) == page([report], tmp_path / "b")


def test_nothing_is_loaded_from_elsewhere(report: CycleReport, tmp_path: Path) -> None:
    text = page([report], tmp_path)
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*//', outside_scripts(text))
    assert "default-src 'none'" in html.unescape(text)


def test_hostile_names_are_text(hostile: CycleReport, tmp_path: Path) -> None:
    text = page([hostile], tmp_path)
    assert "<img" not in outside_scripts(text)
    assert "<script>window.planted" not in text
    assert text.count("&lt;img src=x") > 3


def test_every_chart_has_its_interval_and_its_cycle(report: CycleReport) -> None:
    charts = evaluation_charts([report])
    assert set(charts) == {"capabilities", "regions", "uplifts", "guardrails"}
    for name, spec in charts.items():
        (parameter,) = (one for one in spec["params"] if one["name"] == "benchmark")
        assert parameter["value"] == report.cycle_id
        rows = next(iter(spec["datasets"].values()))
        assert all(row["benchmark"] == report.cycle_id for row in rows)
        if name in ("capabilities", "uplifts"):
            assert all(row["low"] <= row["high"] for row in rows)
    shown = json.dumps(charts["uplifts"])
    assert "whole suite" in shown


def test_several_cycles_share_a_page_and_one_is_shown(
    report: CycleReport, hostile: CycleReport, tmp_path: Path
) -> None:
    other = report.model_copy(update={"cycle_id": "c2"})
    text = page([report, other], tmp_path)
    assert text.count('<option value="c2">') >= 4
    assert '<div data-scope="c2" hidden>' in text
    assert '<div data-scope="c1">' in text


def test_a_page_of_many_cycles_stays_small(report: CycleReport, tmp_path: Path) -> None:
    alone = len(page([report], tmp_path))
    many = [report.model_copy(update={"cycle_id": f"c{n}"}) for n in range(60)]
    text = page(many, tmp_path)
    assert (len(text) - alone) / 59 < 60_000
    assert "The 20 tasks with the largest gaps" in text


def test_equal_arms_are_on_the_page(report: CycleReport, tmp_path: Path) -> None:
    found = calibrate(attempts({"a": 0.6}, repeats=3), load_policy("statistical"), draws=10, seed=1)
    text = page([report], tmp_path, calibration={"c1": [found]})
    assert "Equal arms" in text
    assert "Equal arms" not in page([report], tmp_path)
