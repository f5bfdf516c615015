"""The cycles of a study: own shards as experiments on the prompt, and users' manifests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.config import resolve
from assay.config.evaluation import CyclePlan, cycle_plans
from assay.config.reconcile import expected_seals
from assay.config.registry import load_grid
from assay.config.schema import Evaluation
from assay.config.study import Study
from assay.core.errors import ConfigError
from assay.evaluation.manifest import CycleManifest

SHARDS = {"m": ["results/records/m/arc/0", "results/records/m/mmlu/0"]}


def plans(project: Path, grid: str = "released", **chosen: Any) -> dict[str, CyclePlan]:
    settings = Evaluation(**chosen)
    return cycle_plans(settings, load_grid(project / "config", grid), SHARDS, seed=1)


def study(project: Path, **evaluation: Any) -> Study:
    run = {"study": "s", "models": ["smollm2-135m"], "benchmarks": [{"key": "arc_challenge"}]}
    return resolve(run | {"evaluation": evaluation}, where="t", registries=project / "config")


def test_every_level_of_an_axis_is_tried_against_the_reference_s(project: Path) -> None:
    manifest = plans(project, shards=True)["m"].manifest
    names = [one.name for one in manifest.experiments]
    assert names == [
        *(f"letter_plain for {level}" for level in ("letter_paren", "digit_labels", "instruction")),
        *("letter_plain for cloze_plain", "letter_plain for cloze_question"),
        *(f"p0 for p{order}" for order in range(1, 6)),
    ]
    digits = manifest.experiments[1]
    assert [key.split("|")[2] for key in digits.replaces.variants] == [f"p{n}" for n in range(6)]
    # Matched one to one: the same orders in the same places.
    assert [key.replace("letter_plain", "digit_labels") for key in digits.filters.variants] == [
        *digits.replaces.variants
    ]
    assert manifest.experiments[3].filters.variants == ("gen|letter_plain|p0",)
    assert len(manifest.runs()) == 1


@pytest.mark.parametrize("grid", ["replicate", "choices_only", "pmi", "many_options", "bridge"])
def test_other_grids_have_cycles_without_their_controls(project: Path, grid: str) -> None:
    manifest = plans(project, grid, shards=True)["m"].manifest
    named = [key for one in manifest.experiments for key in one.replaces.variants]
    assert not [key for key in named if "again" in key or "choices_only" in key]


def test_a_manifest_is_a_cycle_and_its_logs_are_inputs(project: Path, tmp_path: Path) -> None:
    job = tmp_path / "job" / "trial"
    job.mkdir(parents=True)
    (job / "result.json").write_text("{}")
    (job / "trial.log").write_text("")
    value = {"cycleId": "x", "baseline": {"job": "job"}, "llm": {"model": "m"}}
    path = tmp_path / "cycle.json"
    path.write_text(json.dumps(value))
    plan = plans(project, cycles={"agents": str(path)})["agents"]
    assert plan.manifest.cycle_id == "agents"
    assert plan.inputs() == [str(job / "result.json")]
    # Who explains a report decides nothing of it.
    assert "llm" not in json.loads(plan.parameters)["manifest"]
    with pytest.raises(ConfigError, match="m is a model's cycle already"):
        plans(project, shards=True, cycles={"m": str(path)})


def test_a_wrong_manifest_is_refused_with_the_run_file(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "cycle.json"
    path.write_text('{"baselin": {"job": "x"}}')
    with pytest.raises(ConfigError, match="did you mean 'baseline'"):
        study(project, cycles={"agents": str(path)})


def test_the_script_reads_what_the_plan_says(project: Path) -> None:
    plan = plans(project, shards=True, expected=0.5)["m"]
    value = json.loads(plan.parameters)
    assert CycleManifest.model_validate_json(json.dumps(value["manifest"])) == plan.manifest
    assert plan.manifest.policy == {
        "name": "statistical",
        "guardrails": [],
        "expected_success_rate": 0.5,
    }


def test_the_seals_of_cycles_are_reconciled(project: Path) -> None:
    def seals(**evaluation: Any) -> set[str]:
        return {one.path.name for one in expected_seals(study(project, **evaluation))}

    without, whole = seals(), seals(shards=True, equal_arms=10)
    assert whole - without == {
        *(
            f"{step}.smollm2-135m.json"
            for step in (
                *("normalize", "diagnose_capabilities", "propose_hypotheses"),
                *("compare_experiment", "decide", "a_a"),
            )
        ),
        "evaluation.json",
    }
    assert "a_a.smollm2-135m.json" not in seals(shards=True)


def test_a_policy_and_a_table_of_the_project_are_named_and_watched(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, text in (("policies", "base: statistical\nname: mine\n"), ("failures", "version: 1")):
        folder = tmp_path / "config" / kind
        folder.mkdir(parents=True)
        (folder / "mine.yaml").write_text(text)
    plan = plans(project, shards=True, policy="mine", failures="mine")["m"]
    assert plan.manifest.policy == {"name": "mine", "guardrails": []}
    assert plan.manifest.baseline.options == {"failures": "mine"}
    watched = {"config/failures/mine.yaml", "config/policies/mine.yaml"}
    assert watched < set(plan.inputs())
    before = plan.parameters
    (tmp_path / "config/policies/mine.yaml").write_text("base: equaxis-v1\nname: mine\n")
    again = plans(project, shards=True, policy="mine", failures="mine")["m"]
    assert again.parameters != before
    assert json.loads(again.parameters)["manifest"] == json.loads(before)["manifest"]
    assert not watched & set(plans(project, shards=True)["m"].inputs())
    with pytest.raises(ConfigError, match="unknown policy 'mime'"):
        plans(project, shards=True, policy="mime")
    cycle = {"baseline": {"job": "j", "options": {"failures": "mine.yaml", "verdicts": "v.jsonl"}}}
    path = tmp_path / "agents" / "cycle.json"
    path.parent.mkdir()
    path.write_text(json.dumps(cycle | {"policy": "other.yaml"}))
    for name in ("mine.yaml", "other.yaml"):
        (path.parent / name).write_text("version: 1")
    plan = plans(project, cycles={"agents": "agents/cycle.json"})["agents"]
    files = ("j", "mine.yaml", "other.yaml", "v.jsonl")
    assert plan.inputs() == [f"agents/{name}" for name in files]


def test_models_share_the_form_of_a_cycle_and_nothing_of_their_own(project: Path) -> None:
    grid = load_grid(project / "config", "released")
    shards = {"m": ["a/0", "a/1"], "n": ["b/0"]}
    together = cycle_plans(Evaluation(shards=True), grid, shards, seed=1)
    for model, folders in shards.items():
        (alone,) = cycle_plans(Evaluation(shards=True), grid, {model: folders}, seed=1).values()
        assert together[model] == alone
        assert together[model].parameters == alone.parameters
        assert together[model].inputs() == [f"{folder}/manifest.json" for folder in folders]
