"""What a record takes and refuses."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.evaluation.record import EvaluationRecord, Trace


def test_camel_case_in_and_out_snake_case_in_python() -> None:
    line = '{"taskId":"a/b","latencyMs":1.5,"trace":{"toolErrors":1},"capabilityTags":["x","y"]}'
    record = EvaluationRecord.model_validate_json(line)
    assert (record.task_id, record.latency_ms, record.trace) == ("a/b", 1.5, Trace(tool_errors=1))
    written = record.model_dump(mode="json", exclude_none=True)
    assert written["taskId"] == "a/b"
    assert written["trace"] == {"toolErrors": 1}
    assert EvaluationRecord(task_id="a").capability_tags == ("unlabeled",)


def test_counts_of_other_cores_are_passed_over() -> None:
    line = '{"taskId":"a","trace":{"toolErrors":2,"failedTools":{"bash":2}}}'
    assert EvaluationRecord.model_validate_json(line).trace == Trace(tool_errors=2)


def test_unknown_is_none_and_not_zero() -> None:
    record = EvaluationRecord(task_id="a")
    assert record.success is None
    assert (record.input_tokens, record.cost_usd, record.latency_ms, record.score) == (None,) * 4


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("score", float("nan")),
        ("costUsd", float("inf")),
        ("latencyMs", -1.0),
        ("inputTokens", -1),
        ("attempt", 0),
        ("taskId", ""),
        ("expectedSuccessRate", 1.1),
        ("failureClass", "other"),
        ("unheardOf", 1),
    ],
)
def test_a_value_that_is_no_fact_is_refused_by_its_name(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match=field):
        EvaluationRecord.model_validate({"taskId": "a", field: value})
