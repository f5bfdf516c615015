"""What an agent did in a trial: the trajectory of ATIF, or the events of a tool harness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.files import lines, mapping, parse, parse_object, read
from assay.evaluation.adapters.inputs import Inputs
from assay.evaluation.record import Trace

_TRAJECTORY = "trajectory.json"
_EVENTS = "equaxis-harness-traces.jsonl"


def trial_trace(agent: Path, inputs: Inputs) -> Trace | None:
    """Return what a trial's folder `agent` tells of its trace; None where it holds none.

    A trace is evidence beside the verdict: lines that were cut off when a file was rotated are
    passed over, and the verdict stands.
    """
    if (agent / _EVENTS).is_file():
        return of_events(_events(agent / _EVENTS, inputs))
    if (agent / _TRAJECTORY).is_file():
        try:
            return of_trajectory(parse_object(read(agent / _TRAJECTORY, inputs), str(agent)))
        except EvaluationError:
            return None
    return None


def _events(path: Path, inputs: Inputs) -> Iterator[Mapping[str, Any]]:
    for where, text in lines(path, inputs):
        try:
            yield mapping(parse(text, where))
        except EvaluationError:
            continue


def of_events(events: Iterator[Mapping[str, Any]]) -> Trace:
    """Count the events of a tool harness.

    Repairing a call was given up where a validation failed and no further repair was allowed.
    """
    counts = {"tool_result": 0, "tool_blocked": 0, "turn_start": 0, "tool_call": 0}
    errors, exhausted = 0, False
    for event in events:
        name = str(event.get("event") or event.get("type"))
        if name in counts:
            counts[name] += 1
        errors += name == "tool_result" and bool(event.get("isError") or event.get("is_error"))
        exhausted |= name == "tool_validation_failed" and event.get("repairAllowed") is False
    return Trace(
        turns=counts["turn_start"],
        tool_calls=max(counts["tool_call"], counts["tool_result"]),
        tool_errors=errors,
        blocked_calls=counts["tool_blocked"],
        repair_exhausted=exhausted,
    )


def of_trajectory(trajectory: Mapping[str, Any]) -> Trace:
    """Count the steps of an ATIF trajectory (1.0 to 1.8).

    The format has no field for a tool's error; agents mark it in ``extra``.
    """
    steps = [mapping(step) for step in _items(trajectory.get("steps"))]
    fresh = [step for step in steps if not step.get("is_copied_context")]
    turns = [step for step in fresh if step.get("source") == "agent"]
    results = [
        mapping(result)
        for step in fresh
        for result in _items(mapping(step.get("observation")).get("results"))
    ]
    marked = [part for part in [*fresh, *results] if _marked(part)]
    return Trace(
        turns=len(turns),
        tool_calls=sum(len(_items(step.get("tool_calls"))) for step in turns),
        tool_errors=len(marked),
    )


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _marked(part: Mapping[str, Any]) -> bool:
    extra = mapping(part.get("extra"))
    code = mapping(extra.get("metadata")).get("exit_code", extra.get("exit_code"))
    return bool(extra.get("tool_result_is_error")) or (isinstance(code, int) and code != 0)
