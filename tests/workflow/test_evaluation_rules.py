"""The evaluation core as rules: own shards and other runners' logs end on one page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.workspace import Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.model]

STEPS = ("normalize", "diagnose_capabilities", "propose_hypotheses", "compare_experiment", "decide")


@pytest.fixture
def space(project: Path, assay_cache: Path, tmp_path: Path) -> Workspace:
    space = Workspace.create(project, tmp_path / "w", assay_cache)
    shutil.copytree(project / "docs/how-to/evaluate", space.root / "example")
    space.config["models"] = ["smollm2-135m"]
    space.config["benchmarks"] = [{"key": "mine"}]
    space.config["evaluation"] = {
        "shards": True,
        "cycles": {"agents": "example/cycle.json"},
        "equal_arms": 10,
    }
    return space


def test_runs_become_decisions_on_one_page_and_only_what_changed_is_redone(
    space: Workspace,
) -> None:
    ran = space.snakemake()
    assert ran.status == 0, ran.output
    cycles = ("smollm2-135m", "agents")
    steps = {f"{step}.{cycle}" for step in (*STEPS, "a_a") for cycle in cycles}
    assert steps | {"evaluation"} <= ran.made
    (study,) = (space.root / "results").glob("test-*")
    page = (study / "report/evaluation.html").read_text("utf-8")
    assert "described-tools" in page
    assert "format:digit_labels" in page
    assert str(space.root) not in page
    assert "evaluation.html" in (study / "report/index.html").read_text("utf-8")
    own = json.loads((study / "evaluation/smollm2-135m/cycle-report.json").read_text())
    assert {one["name"] for one in own["experiments"]} == {
        "letter_plain for digit_labels",
        "letter_plain for cloze",
        "p0 for p1",
    }
    # The command says what the rules say.
    agents = (study / "evaluation/agents/cycle-report.json").read_bytes()
    out = space.root / "out"
    done = space.assay("cycle", "--manifest", "example/cycle.json", "--output-dir", str(out))
    assert done.returncode == 0, done.stderr
    alone = json.loads((out / "cycle-report.json").read_text())
    assert {**json.loads(agents), "cycleId": "search-tool"} == alone

    assert space.snakemake().made == set()
    log = space.root / "example/candidate.csv"
    log.write_text(log.read_text().replace(",true,1,", ",false,0,", 3))
    made = space.snakemake().made
    redone = {"normalize.agents", "compare_experiment.agents", "decide.agents", "evaluation"}
    assert redone <= made
    assert not {name for name in made if "smollm2" in name}


def test_a_wrong_manifest_is_named_before_anything_runs(space: Workspace) -> None:
    path = space.root / "example/cycle.json"
    path.write_text(path.read_text().replace('"baseline"', '"baselin"'))
    ran = space.snakemake("-n")
    assert ran.status != 0
    assert "did you mean 'baseline'?" in ran.output
    assert "Traceback" not in ran.output
