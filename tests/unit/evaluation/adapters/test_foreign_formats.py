"""Formats of which no file is at hand: written here as their runners' documentation has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import EvaluationError
from assay.evaluation.adapters import ADAPTERS, Reading, read_records, register
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


def verdict_file(folder: Path, session: str) -> Path:
    row = {"taskId": "t", "trialId": session, "success": False, "latencyMs": 5.0}
    return jsonl(folder / "verdicts.jsonl", row)


def test_codex_counts_the_last_cumulative_usage(tmp_path: Path) -> None:
    def usage(total: int) -> dict[str, Any]:
        info = {"input_tokens": total, "cached_input_tokens": 3, "output_tokens": 2}
        return {
            "type": "token_count",
            "info": {"total_token_usage": info | {"total_tokens": total + 2}},
        }

    bad = json.dumps({"output": "no", "metadata": {"exit_code": 2}})
    path = jsonl(
        tmp_path / "s" / "rollout-1.jsonl",
        {"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "S1"}},
        {"type": "event_msg", "payload": usage(5)},
        {"type": "response_item", "payload": {"type": "function_call", "name": "shell"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": bad}},
        {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
        {"type": "event_msg", "timestamp": "2026-01-01T00:00:02Z", "payload": usage(11)},
    )
    with pytest.raises(EvaluationError, match="name records with the verdicts"):
        read(path)
    (record,) = read(path, verdicts=str(verdict_file(tmp_path, "S1")))
    assert (record.input_tokens, record.total_tokens, record.cached_tokens) == (11, 13, 3)
    # What the verdict states itself stays.
    assert record.latency_ms == 5
    assert record.trace == Trace(turns=0, tool_calls=1, tool_errors=1)
    # The session says what the verdict does not: a tool failed.
    assert record.failure_code == "TOOL_EXECUTION_FAILURE"
    assert (record.failure_class, record.classification_source) == ("capability", "trace")
    with pytest.raises(EvaluationError, match="no verdict has the trialId 'S1'"):
        read(path, verdicts=str(verdict_file(tmp_path, "S2")))


@pytest.mark.parametrize(
    ("output", "errors"),
    [
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno", 1),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 2", 0),
        ("Wall time: 1 seconds\nProcess exited with code 127\nOutput:\n", 1),
        ("Exit code: 2", 0),  # the text of another tool
        ('{"output": "", "metadata": {"exit_code": 1}}', 1),
        ({"metadata": {"exit_code": []}}, 0),
    ],
)
def test_codex_reads_exit_codes_of_every_version(tmp_path: Path, output: Any, errors: int) -> None:
    path = jsonl(
        tmp_path / "s" / "rollout-1.jsonl",
        {"type": "session_meta", "payload": {"id": "S1"}},
        {"type": "response_item", "payload": {"type": "function_call", "name": "shell"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": output}},
    )
    (record,) = read(path, verdicts=str(verdict_file(tmp_path, "S1")))
    assert record.trace is not None
    assert record.trace.tool_errors == errors


def test_claude_code_counts_a_repeated_message_once(tmp_path: Path) -> None:
    def said(tokens: int | None, call: str = "u1") -> dict[str, Any]:
        usage = {"input_tokens": 1, "cache_read_input_tokens": 4, "output_tokens": tokens}
        content = [{"type": "tool_use", "id": call, "name": "Bash"}]
        return {
            "type": "assistant",
            "sessionId": "S",
            "message": {"id": "m1", "role": "assistant", "content": content, "usage": usage},
        }

    result = {"type": "tool_result", "tool_use_id": "u1", "is_error": True}
    path = jsonl(
        tmp_path / "s" / "S.jsonl",
        said(1),
        said(7),
        said(7, "u2"),
        {"type": "user", "sessionId": "S", "message": {"role": "user", "content": [result]}},
        {"type": "result", "total_cost_usd": 0.25},
    )
    assert find_adapter(path).name == "claude-code"
    (record,) = read(path, verdicts=str(verdict_file(tmp_path, "S")))
    assert (record.input_tokens, record.cached_tokens, record.output_tokens) == (5, 4, 7)
    assert (record.cost_usd, record.trace) == (0.25, Trace(turns=1, tool_calls=2, tool_errors=1))


def test_claude_code_joins_the_lines_of_a_message(tmp_path: Path) -> None:
    def line(part: dict[str, Any], message: str | None, uuid: str, **usage: int | None) -> Any:
        said = {"id": message, "role": "assistant", "content": [part], "usage": usage}
        return {"type": "assistant", "sessionId": "S", "uuid": uuid, "message": said}

    calls = [{"type": "tool_use", "id": f"u{k}", "name": "Bash"} for k in range(2)]
    path = jsonl(
        tmp_path / "s" / "S.jsonl",
        line({"type": "thinking", "thinking": "x"}, "m1", "a", input_tokens=3, output_tokens=1),
        line(calls[0], "m1", "b", input_tokens=3, output_tokens=9),
        line(calls[1], "m1", "c", input_tokens=None, output_tokens=9),
        line({"type": "text", "text": "x"}, None, "d", input_tokens=5, output_tokens=1),
        line({"type": "text", "text": "y"}, None, "e", input_tokens=7, output_tokens=1),
    )
    (record,) = read(path, verdicts=str(verdict_file(tmp_path, "S")))
    assert (record.input_tokens, record.output_tokens) == (3 + 5 + 7, 9 + 1 + 1)
    assert record.trace == Trace(turns=3, tool_calls=2, tool_errors=0)


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        ({"success": False}, "TOOL_ARGUMENT_REPAIR_EXHAUSTED"),
        ({"success": False, "failureCode": "CANCELLED"}, "CANCELLED"),
        ({"success": True}, None),
        ({"success": None}, None),
        (
            {"success": True, "safetyEvaluated": True, "safetyViolation": True},
            "SAFETY_VIOLATION",
        ),
    ],
)
def test_a_session_names_the_failure_that_its_verdict_leaves_open(
    tmp_path: Path, verdict: dict[str, Any], code: str | None
) -> None:
    path = jsonl(
        tmp_path / "s" / "x.jsonl",
        {"event": "turn_start", "sessionId": "R"},
        {"event": "tool_validation_failed", "sessionId": "R", "repairAllowed": False},
        {"event": "tool_blocked", "sessionId": "R"},
        {"event": "tool_result", "sessionId": "R", "isError": True},
    )
    verdicts = jsonl(tmp_path / "verdicts.jsonl", {"taskId": "t", "trialId": "R"} | verdict)
    (record,) = read(path, verdicts=str(verdicts))
    assert (record.success, record.failure_code) == (verdict["success"], code)


def test_runtime_traces(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "s" / "x.jsonl",
        {"event": "turn_start", "sessionId": "R", "timestamp": "2026-01-01T00:00:00Z"},
        {"event": "tool_call", "sessionId": "R"},
        {"event": "tool_result", "sessionId": "R", "isError": False},
        {"event": "agent_end", "sessionId": "R", "costUsd": 0.5},
    )
    assert find_adapter(path).name == "runtime-traces"
    (record,) = read(path, verdicts=str(verdict_file(tmp_path, "R")))
    assert record.trace == Trace(
        turns=1, tool_calls=1, tool_errors=0, blocked_calls=0, repair_exhausted=False
    )
    assert record.cost_usd == 0.5


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


class Mine:
    """An adapter of a user."""

    name = "mine"

    def sniff(self, path: Path) -> bool:
        return path.suffix == ".mine"

    def read(self, path: Path, reading: Reading):
        yield reading.record(str(path), task_id=path.stem, success=True)


def test_a_user_adds_an_adapter(tmp_path: Path) -> None:
    (tmp_path / "x.mine").write_text("")
    register(Mine())
    try:
        assert [r.task_id for r in read(tmp_path / "x.mine")] == ["x"]
        with pytest.raises(ValueError, match="'mine' already"):
            register(Mine())
    finally:
        del ADAPTERS["mine"]
