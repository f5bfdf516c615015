"""Policies and tables of failures of a project, beside the packaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from assay.cli.main import app
from assay.core.errors import ConfigError
from assay.evaluation.cycle import policy_of, run_cycle
from assay.evaluation.manifest import CycleManifest
from assay.evaluation.policy import load_policy, policy_names

#: A table for a runner whose time limit is the machine's, not the agent's.
TABLE = {
    "version": 1,
    "codes": {"SLOW_MACHINE": "infrastructure", "AGENT_EXECUTION_ERROR": "capability"},
    "exceptions": {"SLOW_MACHINE": ["AgentTimeoutError"]},
}


@pytest.fixture
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with registries, from which everything runs."""
    monkeypatch.chdir(tmp_path)
    for kind in ("policies", "failures"):
        (tmp_path / "config" / kind).mkdir(parents=True)
    (tmp_path / "config/policies/mine.yaml").write_text(
        "base: statistical\nname: mine\nlevel: .9\n"
    )
    (tmp_path / "config/failures/lab.yaml").write_text(yaml.safe_dump(TABLE))
    trial = {"task_name": "t", "exception_info": {"exception_type": "AgentTimeoutError"}}
    (tmp_path / "job").mkdir()
    (tmp_path / "job/result.json").write_text(json.dumps(trial))
    return tmp_path


def test_a_policy_of_the_project_is_named_as_a_packaged_one(project_folder: Path) -> None:
    mine = load_policy("mine")
    assert (mine.name, mine.level) == ("mine", 0.9)
    assert mine.alpha_weak == load_policy("statistical").alpha_weak
    assert policy_names() == ["equaxis-v1", "mine", "statistical"]
    assert load_policy({"name": "mine", "power": 0.9}).level == 0.9
    manifest = CycleManifest.model_validate({"baseline": {"job": "job"}, "policy": "mine"})
    assert policy_of(manifest, project_folder / "elsewhere").digest == mine.digest
    by_path = manifest.model_copy(update={"policy": "config/policies/mine.yaml"})
    assert policy_of(by_path, project_folder).digest == mine.digest


def test_what_the_project_comes_with_is_a_policy(project: Path, monkeypatch) -> None:
    monkeypatch.chdir(project)
    own = {path.stem for path in Path("config/policies").glob("*.yaml")}
    assert own == {"strict"}
    strict, usual = load_policy("strict"), load_policy()
    assert strict.alpha_superiority < usual.alpha_superiority
    assert strict.regression_tolerance < usual.regression_tolerance


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("statistical", "base: equaxis-v1", "'statistical' is a policy that comes with Assay"),
        ("a", "base: a", "`base` is the name of another policy"),
        ("a", "base: [a]", "`base` is the name of another policy"),
        ("a", "base: b", "unknown policy 'b'"),
        ("a", "base: statistical\nlevels: 1", "unknown key 'levels'"),
    ],
)
def test_a_wrong_registry_is_named(
    project_folder: Path, name: str, text: str, problem: str
) -> None:
    (project_folder / f"config/policies/{name}.yaml").write_text(text)
    with pytest.raises(ConfigError, match=problem):
        load_policy(name)


@pytest.mark.parametrize("named", ["lab", "config/failures/lab.yaml"])
def test_a_table_of_failures_is_named_in_a_manifest(project_folder: Path, named: str) -> None:
    manifest = CycleManifest.model_validate(
        {"baseline": {"job": "job", "options": {"failures": named}}}
    )
    found = run_cycle(manifest, project_folder).diagnosis.infrastructure
    assert found.failure_codes == {"SLOW_MACHINE": 1}
    usual = CycleManifest.model_validate({"baseline": {"job": "job"}})
    assert run_cycle(usual, project_folder).diagnosis.infrastructure.failures == 0


def test_the_command_line_names_both(project_folder: Path) -> None:
    names = ["--failures", "lab", "--policy", "mine"]
    done = CliRunner().invoke(app, ["diagnose", "--job", "job", "--output-dir", "out", *names])
    assert done.exit_code == 0, done.output
    report = json.loads((project_folder / "out/cycle-report.json").read_text())
    assert report["policy"]["name"] == "mine"
    assert report["diagnosis"]["infrastructure"]["failureCodes"] == {"SLOW_MACHINE": 1}
    wrong = ["diagnose", "--job", "job", "--output-dir", "out", "--failures", "lap"]
    refused = CliRunner().invoke(app, wrong)
    assert refused.exit_code == 1
    assert "unknown table of failures 'lap'" in refused.output.replace("\n", " ")
