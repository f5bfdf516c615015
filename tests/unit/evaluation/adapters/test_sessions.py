"""Sessions of agents: written here as their runtimes' documentation has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import EvaluationError
from assay.evaluation.adapters import read_records
from assay.evaluation.adapters.reading import find_adapter
from assay.evaluation.record import EvaluationRecord, Trace


def read(path: Path, **options: Any) -> list[EvaluationRecord]:
    return list(read_records(path, options=options))


def jsonl(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


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
