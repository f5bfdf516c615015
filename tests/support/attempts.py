"""Records of small made-up arms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.evaluation.record import EvaluationRecord


def arm(area: str, tag: str, outcomes: str, **facts: Any) -> list[EvaluationRecord]:
    """Return one record a task; `outcomes` has a letter each.

    ``1`` passed, ``0`` failed, ``x`` its surroundings failed, ``?`` no verdict.
    """
    return [
        _record(f"{tag}-{k:03d}", area, tag, letter, facts) for k, letter in enumerate(outcomes)
    ]


def _record(task: str, area: str, tag: str, letter: str, facts: dict[str, Any]) -> EvaluationRecord:
    known: dict[str, Any] = {"task_id": task, "task_area": area, "capability_tags": (tag,)}
    known |= {"latency_ms": 100.0, "total_tokens": 100, "cost_usd": 0.01, "safety_evaluated": True}
    known |= {"safety_violation": False}
    if letter == "x":
        known |= {"failure_code": "ENVIRONMENT_FAILED", "failure_class": "infrastructure"}
    elif letter != "?":
        known["success"] = letter == "1"
    if letter == "0":
        known |= {"failure_code": "FUNCTIONAL_VERIFIER_FAILED", "failure_class": "capability"}
    return EvaluationRecord(**(known | facts))


def again(records: list[EvaluationRecord], times: int) -> Iterator[EvaluationRecord]:
    """Yield every record as so many attempts."""
    for record in records:
        for attempt in range(1, times + 1):
            yield record.model_copy(update={"attempt": attempt})
