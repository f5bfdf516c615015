"""Terminal-Bench 1.x: one `results.json` for a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import (
    count,
    elapsed_ms,
    head,
    mapping,
    moment,
    parse_object,
    read,
)
from assay.evaluation.failures import Facts, Phase
from assay.evaluation.record import EvaluationRecord

_RESULTS = "results.json"
#: Failure modes → (exception, phase) in the terms of the table of failures.
_MODES: dict[str, tuple[str, Phase]] = {
    "agent_timeout": ("AgentTimeoutError", "agent_execution"),
    "test_timeout": ("VerifierTimeoutError", "verifier"),
    "context_length_exceeded": ("ContextLengthExceededError", "agent_execution"),
    "output_length_exceeded": ("OutputLengthExceededError", "agent_execution"),
    "fatal_llm_parse_error": ("AgentOutputError", "agent_execution"),
    "parse_error": ("VerifierOutputParseError", "verifier"),
    "agent_installation_failed": ("AgentInstallationError", "agent_setup"),
    "unknown_agent_error": ("UnknownAgentError", "agent_execution"),
    "unknown": ("UnknownHarnessError", "unknown"),
}


class TerminalBench:
    """``is_resolved`` is the verdict; where it is null, the failure mode says who failed.

    An agent that broke or ran out of its budget before a verdict has not passed; null without
    such a mode is the harness's or the tests' failure.
    """

    name: ClassVar[str] = "terminal-bench"

    def sniff(self, path: Path) -> bool:
        """Return whether a `results.json` has trials with ``is_resolved``."""
        place = path / _RESULTS if path.is_dir() else path
        start = head(place) if place.suffix == ".json" else b""
        return b'"results"' in start and b'"is_resolved"' in start

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield the trials of a run, numbered by task in the order of their start."""
        place = path / _RESULTS if path.is_dir() else path
        reading.files += 1
        rows = parse_object(read(place, reading.inputs), str(place)).get("results")
        if not isinstance(rows, list):
            raise EvaluationError("`results` is no list of trials.", where=place)
        found: list[tuple[str, EvaluationRecord]] = []
        for k, row in enumerate(rows):
            where = f"{place}: results[{k}]"
            with reading.part():
                found.append((_started(row, where), _trial(mapping(row), where, reading)))
        attempts: Counter[str] = Counter()
        for _, record in sorted(found, key=lambda pair: pair[0]):
            attempts[record.task_id] += 1
            yield record.model_copy(update={"attempt": attempts[record.task_id]})


def _started(row: Any, where: str) -> str:
    found = moment(mapping(row).get("trial_started_at"), where)
    return found.isoformat() if found else ""


def _trial(row: Mapping[str, Any], where: str, reading: Reading) -> EvaluationRecord:
    resolved = row.get("is_resolved")
    if not isinstance(resolved, bool | None):
        raise EvaluationError(f"is_resolved is {resolved!r}.", where=where)
    exception, phase = _mode(row, resolved)
    facts = Facts(exception=exception, phase=phase, judged=resolved is not None, passed=resolved)
    tokens = {name: count(row.get(f"total_{name}")) for name in ("input_tokens", "output_tokens")}
    known = [value for value in tokens.values() if value is not None]
    span = {key: row.get(f"agent_{key}") for key in ("started_at", "finished_at")}
    return reading.record(
        where,
        task_id=reading.task(row.get("task_id"), row, where),
        trial_id=row.get("trial_name"),
        score=None if resolved is None else float(resolved),
        latency_ms=elapsed_ms(span, where),
        total_tokens=sum(known) if len(known) == len(tokens) else None,
        **tokens,
        **reading.failure(facts),
    )


def _mode(row: Mapping[str, Any], resolved: bool | None) -> tuple[str | None, Phase]:
    """Return the exception and the phase that a failure mode stands for."""
    mode = row.get("failure_mode")
    if mode is None or mode in ("none", "unset"):
        return None, "unknown"
    # What the harness itself dies of is written as an error of an agent that never started.
    if mode == "unknown_agent_error" and resolved is None and not row.get("agent_started_at"):
        return "UnknownHarnessError", "environment_setup"
    if mode == "unknown" and resolved is None:
        return None, "unknown"
    unnamed: tuple[str, Phase] = (str(mode), "unknown")
    return _MODES.get(str(mode), unnamed)
