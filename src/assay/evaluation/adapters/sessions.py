"""Session files of agents, which carry no verdict: they are joined to records that do.

The verdicts are records whose `trial_id` is the session's id. What a verdict does not state of
tokens, cost, latency and trace is taken from its session.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.base import Reading
from assay.evaluation.adapters.files import (
    LOOKED_AT,
    lines,
    mapping,
    moment,
    number,
    parse,
    parse_object,
)
from assay.evaluation.adapters.harbor_trace import of_events
from assay.evaluation.adapters.inputs import Inputs
from assay.evaluation.adapters.plain import PlainRecords
from assay.evaluation.failures import Facts
from assay.evaluation.record import EvaluationRecord


class Sessions(ABC):
    """What the three formats share."""

    name: ClassVar[str]

    def sniff(self, path: Path) -> bool:
        """Return whether one of the first lines of one of the first files is of this format."""
        return any(map(self._is_session, islice(_files(path), LOOKED_AT)))

    def _is_session(self, place: Path) -> bool:
        found = False
        try:
            for where, text in islice(lines(place, Inputs()), LOOKED_AT):
                found |= self.is_line(mapping(parse(text, where)))
        except EvaluationError:
            return False
        return found

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield the verdicts, each with what its session adds."""
        verdicts = _verdicts(path, self.name, reading)
        for place in _files(path):
            if place == reading.options.verdicts:
                continue
            reading.files += 1
            with reading.part():
                events = [
                    (where, parse_object(text, where))
                    for where, text in lines(place, reading.inputs)
                ]
                session, facts = self.facts(place, events)
                record = verdicts.pop(session, None)
                if record is None:
                    raise EvaluationError(
                        f"no verdict has the trialId {session!r}, or another file is its session.",
                        where=place,
                        fix="add one to the verdicts, or take the session out.",
                    )
                yield _joined(record, facts, str(place), reading)
        yield from verdicts.values()

    @abstractmethod
    def is_line(self, line: Mapping[str, Any]) -> bool:
        """Return whether a line can only be of this format."""

    @abstractmethod
    def facts(
        self, place: Path, events: list[tuple[str, dict[str, Any]]]
    ) -> tuple[str, dict[str, Any]]:
        """Return the session's id, and field of a record → value."""


def _joined(
    record: EvaluationRecord, facts: dict[str, Any], where: str, reading: Reading
) -> EvaluationRecord:
    """Return a verdict with what its session adds, a failure that it does not name among it."""
    said = record.model_dump(by_alias=False)
    said |= {key: value for key, value in facts.items() if said[key] is None}
    trace = record.trace or facts["trace"]
    if record.failure_code is None and (record.success is False or record.safety_violation):
        unsafe = record.safety_violation
        said |= reading.failure(Facts(passed=record.success, unsafe=unsafe, trace=trace))
    return reading.record(where, **said)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(path.rglob("*.jsonl"))
    elif path.suffix == ".jsonl":
        yield path


def _verdicts(path: Path, name: str, reading: Reading) -> dict[str, EvaluationRecord]:
    place = reading.options.verdicts
    if place is None:
        raise EvaluationError(
            f"sessions ({name}) say what was done, not whether it succeeded.",
            where=path,
            fix="name records with the verdicts as `verdicts`; their trialId is the session's id.",
        )
    found: dict[str, EvaluationRecord] = {}
    for record in PlainRecords().read(place, reading):
        if record.trial_id is None or record.trial_id in found:
            raise EvaluationError(
                f"a verdict needs a trialId of its own (task {record.task_id}).", where=place
            )
        found[record.trial_id] = record
    return found


def latency(events: list[tuple[str, dict[str, Any]]]) -> float | None:
    """Return the milliseconds from the first to the last time that events (where, event) state.

    Raises
    ------
    EvaluationError
        If a time is none.
    """
    times = [
        found
        for where, event in events
        if (found := moment(event.get("timestamp"), where)) is not None
    ]
    return (max(times) - min(times)).total_seconds() * 1000 if len(times) > 1 else None


class RuntimeTraces(Sessions):
    """Events ``tool_call``, ``tool_result``, ``turn_start``, ``turn_end``, ``agent_end``."""

    name: ClassVar[str] = "runtime-traces"
    _EVENTS: ClassVar[set[str]] = {
        "tool_call",
        "tool_result",
        "turn_start",
        "turn_end",
        "agent_end",
        "session_start",
    }

    def is_line(self, line: Mapping[str, Any]) -> bool:
        """Return whether a line can only be of this format."""
        return str(line.get("event")) in self._EVENTS

    def facts(
        self, place: Path, events: list[tuple[str, dict[str, Any]]]
    ) -> tuple[str, dict[str, Any]]:
        """Return the session's id, and field of a record → value."""
        named = (event.get("sessionId") or event.get("session_id") for _, event in events)
        session = next((name for name in named if name), place.stem)
        costs = [number(event.get("costUsd")) for _, event in events]
        known = [cost for cost in costs if cost is not None]
        return str(session), {
            "trace": of_events(event for _, event in events),
            "latency_ms": latency(events),
            "cost_usd": known[-1] if known else None,
        }
