"""The commands of the evaluation core: what they print and the status they leave with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from support.api_server import Server, serving
from support.evaluation import attempts, two_arms, write_records

RUNNER = CliRunner()
EXAMPLE = Path("docs/how-to/evaluate")


def run(*arguments: object) -> Any:
    return RUNNER.invoke(app, [str(one) for one in arguments])


def test_diagnose_writes_a_report_and_prints_80_columns(project: Path, tmp_path: Path) -> None:
    done = run(
        "diagnose", "--job", project / EXAMPLE / "baseline.csv",
        "--taxonomy", project / EXAMPLE / "capabilities.json", "--output-dir", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "cycle-report.json", "cycle-report.md", "evaluation.html", "hypotheses.json",
        "llm-analysis-prompt.txt",
    }  # fmt: skip
    tables = done.output.split("\nReport:")[0]
    assert "search" in tables
    assert max(map(len, tables.splitlines())) <= 80


def test_the_example_is_deployed(project: Path, tmp_path: Path) -> None:
    manifest = project / EXAMPLE / "cycle.json"
    done = run("cycle", "--manifest", manifest, "--output-dir", tmp_path, "--require-deploy")
    assert done.exit_code == 0, done.output
    assert "described-tools: deploy" in done.output


def test_a_cycle_without_a_deployable_candidate_leaves_with_2(tmp_path: Path) -> None:
    manifest = tmp_path / "m.json"
    manifest.write_text(json.dumps(two_arms(tmp_path, better=0.4)))
    out = ("--output-dir", tmp_path / "out")
    assert run("cycle", "--manifest", manifest, *out).exit_code == 0
    assert run("cycle", "--manifest", manifest, *out, "--require-deploy").exit_code == 2


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ((), 0),
        (("--min-success", 0.8), 0),
        (("--min-success", 0.99), 2),
        (("--min-gain", 0.1), 0),
        (("--min-gain", 0.05, "--confident"), 0),
        (("--min-gain", 0.19), 0),
        (("--min-gain", 0.19, "--confident"), 2),
        (("--max-tokens", 0.2, "--max-latency", 0.2, "--max-cost", 0.2), 0),
        (("--max-tokens", -0.5), 2),
        (("--max-safety", 0.0), 0),
        (("--require-complete",), 0),
    ],
)
def test_gates(tmp_path: Path, options: tuple[object, ...], status: int) -> None:
    two_arms(tmp_path)
    done = run("compare", tmp_path / "again.jsonl", tmp_path / "after.jsonl", *options)
    assert done.exit_code == status, done.output
    assert ("failed" in done.output) == (status == 2)


def test_what_was_not_measured_fails_its_gate(tmp_path: Path) -> None:
    two_arms(tmp_path, cost_usd=None)
    done = run("compare", tmp_path / "again.jsonl", tmp_path / "after.jsonl", "--max-cost", 9)
    assert done.exit_code == 2
    assert "not measured" in done.output


def test_a_missing_task_is_not_complete(tmp_path: Path) -> None:
    two_arms(tmp_path)
    fewer = [one for one in attempts({"search": 0.8, "edit": 0.9}) if one.task_id != "edit-1"]
    write_records(tmp_path / "after.jsonl", fewer)
    done = run("compare", tmp_path / "again.jsonl", tmp_path / "after.jsonl", "--require-complete")
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("diagnose", "--job", "{d}/none", "--output-dir", "{d}/o"), "none"),
        (("diagnose", "--job", "{d}/notes.txt", "--output-dir", "{d}/o"), "no adapter knows"),
        (("cycle", "--manifest", "{d}/none.json", "--output-dir", "{d}/o"), "file not found"),
        (("cycle", "--manifest", "{d}/m.json", "--output-dir", "{d}/o", "--llm"), "`llm`"),
        (("compare", "{d}/a.jsonl", "{d}/none"), "none"),
        (("compare", "{d}/a.jsonl", "{d}/a.jsonl", "--policy", "statistcal"), "'statistical'"),
        (("compare", "{d}/a.jsonl", "{d}/bad.jsonl"), "bad.jsonl:1"),
        (("equal-arms", "{d}/empty.jsonl"), "no"),
    ],
)
def test_errors_are_one_line_and_status_1(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    write_records(tmp_path / "a.jsonl", attempts({"a": 0.5}, tasks=4))
    (tmp_path / "m.json").write_text('{"baseline": {"records": "a.jsonl"}}')
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "bad.jsonl").write_text('{"taskId": "t", "latencyMs": -1}\n')
    (tmp_path / "empty.jsonl").write_text("")
    done = run(*(one.format(d=tmp_path) for one in arguments))
    assert done.exit_code == 1, done.output
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert not (tmp_path / "o").exists()


def test_a_failed_explanation_leaves_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_KEY", "sk-very-secret-1234567890")

    def answer(path: str, body: dict[str, Any]) -> dict[str, Any]:
        return {"output_text": "Decide to REJECT everything.", "decisions": []}

    value = two_arms(tmp_path)
    faults = iter(["no JSON"] * 3)
    with serving(Server(answer, fault=lambda n, _: next(faults, "ok"))) as server:
        value["llm"] = {
            "endpoint": f"{server.url}/responses", "model": "m", "apiKeyEnv": "LLM_KEY",
            "timeoutSec": 2,
        }  # fmt: skip
        (tmp_path / "m.json").write_text(json.dumps(value))
        arguments = ("cycle", "--manifest", tmp_path / "m.json", "--llm", "--output-dir")
        failed = run(*arguments, tmp_path / "failed")
        assert failed.exit_code == 1
        done = run(*arguments, tmp_path / "done")
        assert done.exit_code == 0, done.output
    written = {path.name: path.read_bytes() for path in (tmp_path / "failed").iterdir()}
    assert "cycle-report.json" in written
    explained = {path.name: path.read_bytes() for path in (tmp_path / "done").iterdir()}
    assert set(explained) - set(written) == {"llm-analysis.md", "llm-analysis.json"}
    assert all(explained[name] == content for name, content in written.items())


@pytest.mark.parametrize(("module", "extra"), [("altair", "report"), ("httpx2", "api")])
def test_a_missing_extra_is_named_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    value = two_arms(tmp_path) | {"llm": {"model": "m"}}
    (tmp_path / "m.json").write_text(json.dumps(value))
    code = (
        f"import sys; sys.modules[{module!r}] = None;"
        "from assay.cli.main import app; app(sys.argv[1:])"
    )
    arguments = ("cycle", "--manifest", "m.json", "--output-dir", "out", "--llm")
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"pip install 'assay[{extra}]'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_equal_arms_are_seldom_told_apart(project: Path) -> None:
    job = project / EXAMPLE / "baseline.csv"
    done = run("equal-arms", job, "--draws", 20, "--policy", "statistical")
    assert done.exit_code == 0, done.output
    assert "statistical" in done.output
    assert "0.0 %" in done.output
