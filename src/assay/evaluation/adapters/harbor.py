"""Harbor jobs: a folder with a `result.json` for the job and one for each trial.

A trial's file has ``task_name``, a job's ``n_total_trials``. Ids are never taken from the name of
a folder, which is cut off at 32 characters; attempts at a task count in the order of their start.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import (
    LOOKED_AT,
    count,
    elapsed_ms,
    head,
    listed,
    mapping,
    measure,
    moment,
    parse_object,
    read,
)
from assay.evaluation.adapters.harbor_trace import trial_trace
from assay.evaluation.failures import Facts, Phase
from assay.evaluation.record import EvaluationRecord

_RESULT = "result.json"
_PHASES: tuple[Phase, ...] = ("environment_setup", "agent_setup", "agent_execution", "verifier")
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_USAGE = {
    "n_input_tokens": "input_tokens",
    "n_cache_tokens": "cached_tokens",
    "n_output_tokens": "output_tokens",
    "cost_usd": "cost_usd",
}


class Harbor:
    """Jobs of Harbor 0.2x, in its old and its new layout, with one or several steps a trial."""

    name: ClassVar[str] = "harbor"

    def sniff(self, path: Path) -> bool:
        """Return whether one of the first `result.json` found is Harbor's."""
        starts = map(head, islice(_results(path), LOOKED_AT))
        return any(b'"task_name"' in start or b'"n_total_trials"' in start for start in starts)

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield the trials of one or several jobs, by task and time."""
        found: list[tuple[datetime, EvaluationRecord]] = []
        planned = trials = 0
        for place in _results(path):
            reading.files += 1
            with reading.part():
                facts = parse_object(read(place, reading.inputs), str(place))
                if "task_name" in facts:
                    trials += 1
                    started = moment(facts.get("started_at"), str(place)) or _EARLIEST
                    found.append((started, _trial(facts, place, path, reading)))
                else:
                    planned += count(facts.get("n_total_trials")) or 0
        reading.missing += max(0, planned - trials)
        yield from _numbered(found)


def _results(path: Path) -> Iterator[Path]:
    if path.is_file():
        if path.name == _RESULT:
            yield path
        return
    for folder, below, files in os.walk(path):
        below.sort()
        if _RESULT in files:
            yield Path(folder) / _RESULT


def _numbered(found: list[tuple[datetime, EvaluationRecord]]) -> Iterator[EvaluationRecord]:
    """Yield the records with their attempts counted in the order of their start."""
    attempts: Counter[str] = Counter()
    for _, record in sorted(found, key=lambda pair: (pair[1].task_id, pair[0], pair[1].trial_id)):
        attempts[record.task_id] += 1
        yield record.model_copy(update={"attempt": attempts[record.task_id]})


def _trial(facts: Mapping[str, Any], place: Path, root: Path, reading: Reading) -> EvaluationRecord:
    where = str(place)
    steps = [mapping(step) for step in listed(facts.get("step_results"), "step_results", where)]
    parts = [facts] if facts.get("agent_result") or not steps else steps
    rewards = _rewards(facts, steps, where)
    score = _score(rewards, where, reading)
    unsafe = rewards.get("safety")
    valid = facts.get("reward_valid") is not False or reading.options.classifier != "table"
    trace = trial_trace(place.parent / "agent", reading.inputs)
    failure = reading.failure(
        Facts(
            **_exception([facts, *steps]),
            phase=_phase([facts, *steps]),
            judged=score is not None and valid,
            passed=_passed(score, unsafe, reading) if valid else None,
            unsafe=unsafe is not None and unsafe < 1,
            trace=trace,
        )
    )
    usage = {ours: _total(parts, theirs, where) for theirs, ours in _USAGE.items()}
    spans = [elapsed_ms(part.get("agent_execution"), where) for part in parts]
    known = [span for span in spans if span is not None]
    info = mapping(facts.get("agent_info"))
    return reading.record(
        where,
        task_id=reading.task(facts["task_name"], facts, where),
        trial_id=str(facts.get("trial_name") or place.parent.name),
        score=score,
        safety_evaluated=unsafe is not None,
        safety_violation=None if unsafe is None else unsafe < 1,
        latency_ms=sum(known) if known else None,
        total_tokens=_sum(usage["input_tokens"], usage["output_tokens"]),
        trace=trace,
        result_path=place.relative_to(root).as_posix() if root.is_dir() else place.name,
        task_version=facts.get("task_checksum"),
        runner_version=None if info.get("version") in (None, "unknown") else str(info["version"]),
        **usage,
        **failure,
    )


def _rewards(
    facts: Mapping[str, Any], steps: list[Mapping[str, Any]], where: str
) -> dict[str, float]:
    """Return reward → value; of several steps without a common verdict, the mean a reward."""
    given = mapping(mapping(facts.get("verifier_result")).get("rewards"))
    if given:
        found = {key: measure(value, f"reward {key}", where) for key, value in given.items()}
        return {key: value for key, value in found.items() if value is not None}
    seen = [mapping(mapping(step.get("verifier_result")).get("rewards")) for step in steps]
    values: dict[str, list[float]] = {}
    for rewards in seen:
        for key, value in rewards.items():
            if (one := measure(value, f"reward {key}", where)) is not None:
                values.setdefault(key, []).append(one)
    return {key: sum(some) / len(some) for key, some in values.items()}


def _score(rewards: Mapping[str, float], where: str, reading: Reading) -> float | None:
    name = reading.options.reward or "reward"
    others = [key for key in rewards if key != "safety"]
    if name in rewards:
        return rewards[name]
    if reading.options.reward is None and len(others) == 1:
        return rewards[others[0]]
    if others:
        raise EvaluationError(
            f"there is no reward {name!r}.", where=where, fix=f"choose of {', '.join(others)}."
        )
    return None


def _passed(score: float | None, unsafe: float | None, reading: Reading) -> bool | None:
    passed = reading.passed(score)
    return passed and (unsafe is None or unsafe >= 1)


def _exception(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    for part in parts:
        info = mapping(part.get("exception_info"))
        if info:
            return {
                "exception": str(info.get("exception_type") or "unknown"),
                "message": str(info.get("exception_message") or ""),
            }
    return {}


def _phase(parts: list[Mapping[str, Any]]) -> Phase:
    """Return the last phase that began."""
    for phase in reversed(_PHASES):
        if any(mapping(part.get(phase)).get("started_at") for part in parts):
            return phase
    return "unknown"


def _total(parts: list[Mapping[str, Any]], key: str, where: str) -> float | None:
    found = (measure(mapping(part.get("agent_result")).get(key), key, where) for part in parts)
    return _sum(*found, most=False)


def _sum(*values: float | None, most: bool = True) -> float | None:
    """Return the sum; None where a value (`most`) or every value is unknown."""
    known = [value for value in values if value is not None]
    if not known or (most and len(known) < len(values)):
        return None
    return sum(known)
