"""Formats of which no file is at hand: written here as their runners' documentation has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import EvaluationError
from assay.evaluation.adapters import Reading, read_records
from assay.evaluation.adapters.reading import find_adapter
from assay.evaluation.record import EvaluationRecord, Trace


def read(path: Path, **options: Any) -> list[EvaluationRecord]:
    return list(read_records(path, options=options))


def jsonl(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def trial(folder: Path, **facts: Any) -> Path:
    """Write one trial of Harbor."""
    folder.mkdir(parents=True)
    whole = {
        "task_name": "org/search",
        "trial_name": folder.name,
        "task_checksum": "c" * 64,
        "started_at": "2026-03-08T04:32:55Z",
        "verifier_result": {"rewards": {"reward": 1}},
        "agent_execution": {"started_at": "2026-03-08T04:33:00Z", "finished_at": None},
    }
    (folder / "result.json").write_text(json.dumps(whole | facts))
    return folder


def test_harbor_the_published_example(tmp_path: Path) -> None:
    folder = trial(
        tmp_path / "job" / "t1",
        verifier_result={"rewards": {"reward": 0, "safety": 1}},
        agent_result={"n_input_tokens": 80, "n_output_tokens": 20, "cost_usd": None},
        agent_execution={
            "started_at": "2026-03-08T04:33:00Z",
            "finished_at": "2026-03-08T04:33:01Z",
        },
    )
    events = folder / "agent" / "equaxis-harness-traces.jsonl"
    jsonl(events, {"event": "tool_result", "isError": True}, {"event": "turn_start"})
    with events.open("a") as file:
        file.write('{"event": "tool_res')
    (record,) = read(tmp_path / "job")
    assert record.failure_code == "TOOL_EXECUTION_FAILURE"
    assert (record.total_tokens, record.latency_ms) == (100, 1000)
    assert (record.safety_evaluated, record.safety_violation) == (True, False)
    assert record.trace is not None
    assert (record.trace.tool_errors, record.trace.turns) == (1, 1)
    assert (record.task_id, record.cost_usd) == ("org/search", None)


def test_harbor_attempts_count_in_time_whatever_the_zone(tmp_path: Path) -> None:
    job = tmp_path / "job"
    trial(job / "a", started_at="2026-03-08T05:00:00")
    trial(job / "b", started_at="2026-03-08T06:30:00+02:00", verifier_result=None)
    trial(job / "c", task_name="org/edit", exception_info={"exception_type": "AgentTimeoutError"})
    (job / "result.json").write_text('{"n_total_trials": 5, "stats": {}}')
    reading = Reading()
    found = list(read_records(job, reading=reading))
    assert [(r.task_id, r.trial_id, r.attempt) for r in found] == [
        ("org/edit", "c", 1),
        ("org/search", "b", 1),
        ("org/search", "a", 2),
    ]
    # A trial that ran out of time may have passed; one without a verdict says nothing.
    assert [(r.success, r.failure_code) for r in found] == [
        (True, "TASK_TIMEOUT"),
        (None, "VERIFIER_RESULT_MISSING"),
        (True, None),
    ]
    assert reading.missing == 2


def test_harbor_an_invalid_reward_is_no_verdict(tmp_path: Path) -> None:
    job = tmp_path / "job"
    trial(job / "a", exception_info={"exception_type": "ApiRateLimitError"})
    trial(job / "b", reward_valid=False, task_name="x")
    (first, second) = read(job)
    # The reward that a grader wrote stands beside the failure; one that Harbor disowns does not.
    assert (first.success, first.failure_class) == (True, "infrastructure")
    assert (second.success, second.failure_code) == (None, "VERIFIER_RESULT_MISSING")
    (old, _) = read(job, classifier="equaxis-v1")
    assert (old.success, old.failure_code) == (True, "AGENT_EXECUTION_ERROR")


def test_harbor_steps_add_up(tmp_path: Path) -> None:
    steps = [
        {
            "agent_result": {"n_input_tokens": 5, "n_output_tokens": k, "cost_usd": 0.5},
            "verifier_result": {"rewards": {"reward": k}},
            "agent_execution": {
                "started_at": "2026-03-08T04:33:00Z",
                "finished_at": f"2026-03-08T04:33:0{k + 1}Z",
            },
        }
        for k in range(2)
    ]
    trial(
        tmp_path / "t",
        verifier_result=None,
        agent_execution=None,
        agent_result=None,
        step_results=steps,
    )
    (record,) = read(tmp_path)
    assert (record.score, record.input_tokens, record.output_tokens) == (0.5, 10, 1)
    assert (record.latency_ms, record.cost_usd) == (3000, 1.0)


def test_harbor_several_rewards_must_be_chosen(tmp_path: Path) -> None:
    trial(tmp_path / "t", verifier_result={"rewards": {"tests": 1, "style": 0}})
    with pytest.raises(EvaluationError, match="choose of tests, style"):
        read(tmp_path)
    assert [r.success for r in read(tmp_path, reward="tests")] == [True]


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"verifier_result": {"rewards": {"reward": "high"}}}, "reward reward is 'high'"),
        ({"verifier_result": {"rewards": {"reward": float("nan")}}}, "reward reward is 'nan'"),
        ({"agent_result": {"cost_usd": float("inf")}}, "cost_usd is 'inf'"),
        ({"agent_result": {"n_input_tokens": "many"}}, "n_input_tokens is 'many'"),
    ],
)
def test_harbor_what_is_no_number_is_refused(tmp_path: Path, facts: dict, problem: str) -> None:
    trial(tmp_path / "t", **facts)
    with pytest.raises(EvaluationError, match=problem):
        read(tmp_path)


def test_attempts_of_a_second_run_follow_those_of_the_first(tmp_path: Path) -> None:
    paths = [trial(tmp_path / name / "t").parent for name in ("one", "two")]
    assert [record.attempt for record in read_records(paths)] == [1, 2]


def test_harbor_trajectory(tmp_path: Path) -> None:
    folder = trial(tmp_path / "t", verifier_result={"rewards": {"reward": 0}})
    steps = [
        {"source": "user", "message": "go"},
        {"source": "agent", "is_copied_context": True, "tool_calls": [{}]},
        {
            "source": "agent",
            "tool_calls": [{}, {}],
            "observation": {"results": [{"extra": {"tool_result_is_error": True}}, {}]},
        },
    ]
    (folder / "agent").mkdir()
    (folder / "agent" / "trajectory.json").write_text(json.dumps({"steps": steps}))
    (record,) = read(tmp_path)
    assert record.trace == Trace(turns=1, tool_calls=2, tool_errors=1)
    assert record.failure_code == "TOOL_EXECUTION_FAILURE"


def test_terminal_bench(tmp_path: Path) -> None:
    rows = [
        {
            "task_id": "a",
            "is_resolved": True,
            "failure_mode": "agent_timeout",
            "trial_started_at": "2025-09-06T10:00:00+00:00",
            "total_input_tokens": 10,
            "total_output_tokens": 5,
        },
        {
            "task_id": "a",
            "is_resolved": None,
            "failure_mode": "unknown_agent_error",
            "trial_started_at": "2025-09-06T09:00:00+00:00",
        },
        {"task_id": "b", "is_resolved": False, "failure_mode": "unset"},
    ]
    (tmp_path / "results.json").write_text(json.dumps({"id": "x", "results": rows}))
    found = read(tmp_path)
    assert find_adapter(tmp_path).name == "terminal-bench"
    got = [(r.task_id, r.attempt, r.success, r.failure_code) for r in found]
    assert got == [
        ("b", 1, False, "FUNCTIONAL_VERIFIER_FAILED"),
        ("a", 1, None, "ENVIRONMENT_FAILED"),
        ("a", 2, True, "TASK_TIMEOUT"),
    ]
    assert found[2].total_tokens == 15


def test_openai_evals_several_events_a_sample(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "log.jsonl",
        {"spec": {"run_id": "r", "base_eval": "arith"}},
        {"sample_id": "arith.dev.0", "type": "sampling", "data": {"usage": {"total_tokens": 9}}},
        {"sample_id": "arith.dev.0", "type": "match", "data": {"correct": True}},
        {"sample_id": "arith.dev.1", "type": "metrics", "data": {"accuracy": 0.0}},
        {"sample_id": "arith.dev.2", "type": "error", "data": {"type": "RateLimitError"}},
        {"final_report": {"accuracy": 0.5}},
    )
    assert find_adapter(path).name == "openai-evals"
    found = read(path)
    assert [r.success for r in found] == [True, False, None]
    assert [r.failure_class for r in found] == [None, "capability", "infrastructure"]
    assert (found[0].total_tokens, found[0].task_area) == (9, "arith")


def test_swe_bench_by_key_not_by_version(tmp_path: Path) -> None:
    report = {
        "schema_version": 2,
        "resolved_ids": ["django__django-1"],
        "unresolved_ids": ["django__django-2", "sympy__sympy-3"],
        "empty_patch_ids": ["sympy__sympy-4"],
        "error_ids": ["sympy__sympy-5"],
        "infra_failure_ids": ["sympy__sympy-3"],
    }
    (tmp_path / "m.run.json").write_text(json.dumps(report))
    found = {r.task_id: r for r in read(tmp_path / "m.run.json")}
    assert [found[key].success for key in sorted(found)] == [True, False, False, False, False]
    assert found["sympy__sympy-3"].failure_code == "ENVIRONMENT_FAILED"
    assert found["django__django-1"].task_area == "django"
    folder = tmp_path / "logs" / "django__django-1"
    folder.mkdir(parents=True)
    one = {"django__django-1": {"resolved": True, "patch_successfully_applied": True}}
    (folder / "report.json").write_text(json.dumps(one))
    assert [r.success for r in read(tmp_path / "logs")] == [True]


def test_helm_perturbed_instances_are_other_questions(tmp_path: Path) -> None:
    def entry(**more: Any) -> dict[str, Any]:
        stat = {"name": {"name": "exact_match"}, "mean": 1.0}
        return {"instance_id": "id1", "train_trial_index": 1, "stats": [stat]} | more

    folder = tmp_path / "mmlu:subject=law,model=a"
    folder.mkdir()
    entries = [entry(), entry(perturbation={"name": "typos"})]
    (folder / "per_instance_stats.json").write_text(json.dumps(entries))
    (record,) = read(tmp_path)
    assert (record.task_id, record.attempt) == ("mmlu:subject=law/id1", 2)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_plain_records_as_lines_and_as_a_table(tmp_path: Path, mark: str, end: str) -> None:
    lines = ['{"taskId":"a","success":true,"latencyMs":2}', "", '{"task_id":"b","success":null}']
    (tmp_path / "r.jsonl").write_bytes((mark + end.join(lines)).encode())
    table = ["taskId,success,capabilityTags,failureCode", "a,true,x;y,", "b,,,CANCELLED"]
    (tmp_path / "r.csv").write_bytes((mark + end.join(table) + end).encode())
    assert [r.success for r in read(tmp_path / "r.jsonl")] == [True, None]
    first, second = read(tmp_path / "r.csv")
    assert (first.success, first.capability_tags) == (True, ("x", "y"))
    assert (second.success, second.failure_class) == (None, "infrastructure")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("r.jsonl", '{"taskId":"a"}\n{"taskId":"b","score":NaN}', r"r\.jsonl:2"),
        ("r.jsonl", '{"taskId":"a","score":1e999}', r"r\.jsonl:1: score"),
        ("r.jsonl", '{"taskId":"a","success":"yes"}', r"r\.jsonl:1: success"),
        ("r.jsonl", '{"taskId":"a"}\n{"taskId":', r"r\.jsonl:2"),
        ("r.jsonl", '{"taskId":"a","costUsd":-1}', "costUsd"),
        ("r.csv", "taskId,success\na,true,1\n", r"r\.csv:2: 3 cells, 2 columns"),
        ("r.csv", "taskId,success\na,perhaps\n", r"r\.csv:2: success"),
        ("r.csv", "taskId,latencyMs\na,nan\n", r"r\.csv:2: latency"),
        ("r.csv", "taskId,trace\na,x\n", "'trace' is no field"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(EvaluationError, match=problem):
        list(read_records(tmp_path / name, adapter="records"))
