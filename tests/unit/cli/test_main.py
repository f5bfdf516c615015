from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.main import app

runner = CliRunner()


@pytest.fixture(autouse=True)
def _in_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["summary", "--configfile", "absent.yaml"], "absent.yaml: file not found"),
        (["reconcile", "--configfile", "absent.yaml"], "absent.yaml: file not found"),
        (["snapshot", "show", "absent"], "absent: there is no complete snapshot here"),
        (["snapshot", "verify", "config"], "config: there is no complete snapshot here"),
    ],
)
def test_bad_input_is_one_line_and_status_1(arguments: list[str], message: str) -> None:
    done = runner.invoke(app, arguments)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_study_that_was_never_run(tmp_path: Path) -> None:
    run = tmp_path / "never.yaml"
    run.write_text("study: never-run\n")
    done = runner.invoke(app, ["summary", "--configfile", str(run)])
    assert done.exit_code == 1
    assert "leaderboard.json: file not found" in done.stderr
