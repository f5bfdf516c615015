from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.config import FIGURES, Study, resolve
from assay.core.errors import ConfigError
from assay.core.identity import canonical_json, digest
from assay.leaderboard import TABLES as WRITTEN

from assay.config import TABLES  # isort: skip


@pytest.fixture
def raw(project: Path) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((project / "config/config.yaml").read_text("utf-8"))
    return value


@pytest.fixture
def study(raw: dict[str, Any], project: Path) -> Any:
    def build(**changes: Any) -> Study:
        config = copy.deepcopy(raw)
        for path, value in changes.items():
            place = config
            *parents, last = path.split("__")
            for parent in parents:
                place = place[parent]
            place[last] = value
        return resolve(config, where="run.yaml", registries=project / "config")

    return build


def runs(study: Study) -> dict[tuple[str, str], str]:
    return {(model, benchmark): run for model, benchmark, run in study.shards}


def test_the_default_is_three_models_on_four_benchmarks(study: Any) -> None:
    assert len(study().shards) == 12


@pytest.mark.parametrize(
    "changes",
    [
        {"decode__max_new_tokens": 9},
        {"runtime__token_budget": 1024},
        {"runtime__backend": "hf_local"},
        {"runtime__threads": 1},
        {"runtime__device": "cpu"},
        {"analysis__alpha": 0.01},
        {"report__title": "x"},
    ],
)
def test_a_run_covers_what_decides_the_answers_and_nothing_else(study: Any, changes: Any) -> None:
    decides = next(iter(changes)) in ("decode__max_new_tokens", "runtime__token_budget")
    before, after = runs(study()), runs(study(**changes))
    assert (before != after) == decides
    assert not decides or not set(before.values()) & set(after.values())


def test_the_settings_of_an_engine_are_part_of_a_run_of_its_own_only(study: Any) -> None:
    plain = runs(study())
    assert runs(study(runtime__vllm={"tensor_parallel": 2})) == plain
    engine = runs(study(runtime__backend="vllm_offline"))
    names = {**plain, "engine": ""}
    for settings in ({}, {"tensor_parallel": 2}, {"batch_invariant": True}):
        found = runs(study(runtime__backend="vllm_offline", runtime__vllm=settings))
        assert (found == engine) == (not settings)
        assert not set(found.values()) & set(names.values())
        names |= {(*key, str(settings)): run for key, run in found.items()}


def test_an_engine_has_an_environment_and_gpus_of_its_own(study: Any) -> None:
    def of(**changes: Any) -> tuple[str, int]:
        built = study(**changes)
        return built.collect_environment, built.gpus("smollm2-135m")

    vllm = {"runtime__backend": "vllm_offline", "runtime__vllm": {"tensor_parallel": 2}}
    assert of() == ("hf", 0)  # the embedded models need none
    assert of(**vllm) == ("vllm", 2)
    assert of(**vllm, runtime__device="cpu") == ("vllm-cpu", 0)


@pytest.mark.parametrize("device", ["auto", "cpu"])
@pytest.mark.parametrize("backend", ["auto", "vllm_offline"])
def test_the_environment_of_every_backend_is_there(
    study: Any, project: Path, device: str, backend: str
) -> None:
    name = study(runtime__backend=backend, runtime__device=device).collect_environment
    value = yaml.safe_load((project / f"envs/{name}.yaml").read_text("utf-8"))
    (packages,) = (part["pip"] for part in value["dependencies"] if isinstance(part, dict))
    locks = [line.removeprefix("-r ") for line in packages if line.startswith("-r ")]
    assert locks
    assert all((project / "envs" / lock).is_file() for lock in locks)


def test_dtype_moves_only_models_without_their_own(study: Any) -> None:
    models = ["smollm2-135m", "qwen3-0.6b"]
    before, after = runs(study(models=models)), runs(study(models=models, runtime__dtype="float16"))
    moved = {model for model, bench in before if before[model, bench] != after[model, bench]}
    assert moved == {"qwen3-0.6b"}


def test_one_benchmark_changes_only_its_shards(study: Any, raw: dict[str, Any]) -> None:
    benchmarks = copy.deepcopy(raw["benchmarks"])
    benchmarks[1]["items"] = 7
    before, after = runs(study()), runs(study(benchmarks=benchmarks))
    moved = {
        benchmark
        for model, benchmark in before
        if before[model, benchmark] != after[model, benchmark]
    }
    assert moved == {raw["benchmarks"][1]["key"]}


def test_order_of_models_does_not_rename_a_study(study: Any, raw: dict[str, Any]) -> None:
    swapped = study(models=list(reversed(raw["models"])))
    assert swapped.name == study().name
    assert runs(swapped) == runs(study())


def test_two_item_counts_are_two_studies(study: Any, raw: dict[str, Any]) -> None:
    assert study(models=raw["models"][:2]).name != study().name


def test_texts_put_together_from_parts_are_those_of_the_whole(study: Any) -> None:
    for plan in study().shards.values():
        assert plan.run == digest(plan.identity, length=12)
        told = json.loads(plan.parameters)
        assert plan.parameters == canonical_json(told)
        assert told["identity"] == json.loads(canonical_json(plan.identity))
        assert told["grid"] == plan.grid.model_dump(mode="json")


def test_parameters_hold_no_path_of_this_machine(study: Any) -> None:
    built = study()
    for plan in built.shards.values():
        assert str(Path.home()) not in plan.parameters
        assert json.loads(plan.parameters)["run"] == plan.run


WRONG = [
    ({"modles": []}, "unknown key 'modles' (did you mean 'models'?)"),
    ({"models": ["smollm3"]}, "unknown model 'smollm3'"),
    ({"models": []}, "models: "),
    ({"models": ["smollm2-135m", "smollm2-135m"]}, "lists smollm2-135m more than once"),
    ({"benchmarks": [{"key": "arc_chalenge", "items": 3}]}, "Did you mean 'arc_challenge"),
    ({"benchmarks": [{"key": "mmlu", "items": 0}]}, "benchmarks.0.items: "),
    ({"benchmarks": [{"key": "mmlu", "item": 3}]}, "did you mean 'items'?"),
    ({"decode": {"max_new_tokens": "8"}}, "decode.max_new_tokens: "),
    ({"runtime": {"backend": "vlm"}}, "'auto'"),
    ({"runtime": {"dtype": "fp8"}}, "runtime.dtype: "),
    ({"analysis": {"alpha": 5}}, "analysis.alpha: "),
    ({"study": "records"}, "may not be called"),
    ({"study": "../up"}, "study: "),
    ({"grid": "none"}, "unknown grid 'none'"),
    ({"grid": "fewshot"}, "keeps fewer items back for them. Fix: set `pool: "),
    ({"define": {"models": {"x": {"family": "f"}}}, "models": ["x"]}, "define.models.x.source"),
    (
        {
            "define": {
                "models": {
                    "x": {
                        "family": "f",
                        "licence": "MIT",
                        "source": {"kind": "hub", "repo": "a/b", "revision": "main"},
                    }
                }
            },
            "models": ["x"],
        },
        "'main' is not a commit",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_run_file_is_one_clear_message(
    raw: dict[str, Any], project: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(raw | change, where="run.yaml", registries=project / "config")
    assert message in str(caught.value)


def test_a_missing_key_is_named(raw: dict[str, Any], project: Path) -> None:
    del raw["study"]
    with pytest.raises(ConfigError, match="key 'study' is missing"):
        resolve(raw, where="run.yaml", registries=project / "config")


@pytest.mark.parametrize("name", ["smoke", "study", "paper"])
def test_every_run_file_of_the_project_resolves(
    project: Path, raw: dict[str, Any], name: str
) -> None:
    over = yaml.safe_load((project / f"config/{name}.yaml").read_text("utf-8"))
    assert resolve(raw | over, where=name, registries=project / "config").shards


def test_the_workflow_names_what_the_library_makes(project: Path) -> None:
    assert set(TABLES) == set(WRITTEN)
    scripts = {path.stem.removeprefix("plot_") for path in project.glob("scripts/plot_*.py")}
    assert set(FIGURES) == scripts


def served(**changes: Any) -> dict[str, Any]:
    source = {"kind": "api", "base_url": "http://127.0.0.1:8000/v1", "model": "m"} | changes
    return {"family": "f", "licence": "none", "source": source}


def test_a_model_behind_a_server_is_asked_by_api_whatever_runs_weights(study: Any) -> None:
    ours = study(models=["smollm2-135m", "mine"], define={"models": {"mine": served()}})
    backends = {plan.model.key: plan.backend for plan in ours.shards.values()}
    assert backends == {"smollm2-135m": "hf_local", "mine": "api"}
    assert ours.gpus("mine") == 0


@pytest.mark.parametrize(
    ("changes", "decides"),
    [
        ({"access": {"key_env": "MY_KEY", "concurrency": 32, "timeout_s": 5}}, False),
        ({"model": "n"}, True),
        ({"base_url": "http://127.0.0.1:8001/v1"}, True),
        ({"extra": {"reasoning_effort": "none"}}, True),
    ],
)
def test_how_a_server_may_be_asked_pays_for_nothing_twice(
    study: Any, changes: Any, decides: bool
) -> None:
    one = study(models=["mine"], define={"models": {"mine": served()}})
    two = study(
        models=["mine"],
        define={"models": {"mine": served(**changes)}},
        runtime__token_budget=512,
        runtime__dtype="bfloat16",
    )
    assert (runs(one) != runs(two)) == decides
    assert (one.model_source("mine") != two.model_source("mine")) == decides
    assert (one.source_parameters("mine") != two.source_parameters("mine")) == decides


def test_weights_are_not_behind_the_api(study: Any) -> None:
    with pytest.raises(ConfigError, match="smollm2-135m.* no model behind a server"):
        study(models=["smollm2-135m"], runtime__backend="api")


def test_a_file_where_results_go_is_named(
    study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").write_text("notes")
    with pytest.raises(ConfigError, match="^results: .*no folder.*move the file away"):
        study()
