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
    count,
    lines,
    mapping,
    moment,
    number,
    parse,
    parse_object,
)
from assay.evaluation.adapters.harbor_trace import of_events
from assay.evaluation.adapters.plain import PlainRecords
from assay.evaluation.record import EvaluationRecord, Trace

_LOOKED_AT = 20


class Sessions(ABC):
    """What the three formats share."""

    name: ClassVar[str]

    def sniff(self, path: Path) -> bool:
        """Return whether one of the first lines of the first file is of this format."""
        place = next(_files(path), None)
        if place is None:
            return False
        try:
            first = [parse(text, where) for where, text in islice(lines(place), _LOOKED_AT)]
        except EvaluationError:
            return False
        return any(self.is_line(mapping(line)) for line in first)

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield the verdicts, each with what its session adds."""
        verdicts = _verdicts(path, self.name, reading)
        for place in _files(path):
            if place == reading.options.verdicts:
                continue
            reading.files += 1
            with reading.part():
                events = [(where, parse_object(text, where)) for where, text in lines(place)]
                session, facts = self.facts(place, events)
                record = verdicts.pop(session, None)
                if record is None:
                    raise EvaluationError(
                        f"no verdict has the trialId {session!r}.",
                        where=place,
                        fix="add one to the verdicts, or take the session out.",
                    )
                unsaid = {key: v for key, v in facts.items() if getattr(record, key) is None}
                yield reading.record(str(place), **{**record.model_dump(by_alias=False), **unsaid})
        yield from verdicts.values()

    @abstractmethod
    def is_line(self, line: Mapping[str, Any]) -> bool:
        """Return whether a line can only be of this format."""

    @abstractmethod
    def facts(
        self, place: Path, events: list[tuple[str, dict[str, Any]]]
    ) -> tuple[str, dict[str, Any]]:
        """Return the session's id, and field of a record → value."""


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


def _latency(events: list[tuple[str, dict[str, Any]]]) -> float | None:
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
        return line.get("event") in self._EVENTS

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
            "latency_ms": _latency(events),
            "cost_usd": known[-1] if known else None,
        }


class Codex(Sessions):
    """Rollouts of Codex; usage is cumulative, so the last one counts."""

    name: ClassVar[str] = "codex"

    def is_line(self, line: Mapping[str, Any]) -> bool:
        """Return whether a line can only be of this format."""
        return line.get("type") in ("session_meta", "turn_context") and "payload" in line

    def facts(
        self, place: Path, events: list[tuple[str, dict[str, Any]]]
    ) -> tuple[str, dict[str, Any]]:
        """Return the session's id, and field of a record → value."""
        payloads = [(event.get("type"), mapping(event.get("payload"))) for _, event in events]
        metas = [payload for kind, payload in payloads if kind == "session_meta"]
        session = str(metas[0].get("id") if metas else place.stem)
        items = [payload for kind, payload in payloads if kind == "response_item"]
        usage: Mapping[str, Any] = {}
        for kind, payload in payloads:
            if kind == "event_msg" and payload.get("type") == "token_count":
                usage = mapping(mapping(payload.get("info")).get("total_token_usage")) or usage
        calls = [item for item in items if str(item.get("type")).endswith("tool_call")]
        calls += [item for item in items if item.get("type") == "function_call"]
        return session, {
            "trace": Trace(
                turns=sum(kind == "turn_context" for kind, _ in payloads),
                tool_calls=len(calls),
                tool_errors=sum(_exit_code(item) not in (None, 0) for item in items),
            ),
            "latency_ms": _latency(events),
            "input_tokens": count(usage.get("input_tokens")),
            "cached_tokens": count(usage.get("cached_input_tokens")),
            "output_tokens": count(usage.get("output_tokens")),
            "total_tokens": count(usage.get("total_tokens")),
        }


def _exit_code(item: Mapping[str, Any]) -> int | None:
    if item.get("type") not in ("function_call_output", "custom_tool_call_output"):
        return None
    output = item.get("output")
    try:
        told = parse(output.encode(), "") if isinstance(output, str) else output
    except EvaluationError:
        return None
    return count(mapping(mapping(told).get("metadata")).get("exit_code"))


class ClaudeCode(Sessions):
    """Sessions of Claude Code; a message that was streamed is repeated, its last usage counts."""

    name: ClassVar[str] = "claude-code"

    def is_line(self, line: Mapping[str, Any]) -> bool:
        """Return whether a line can only be of this format."""
        return line.get("type") in ("user", "assistant") and {"sessionId", "message"} <= set(line)

    def facts(
        self, place: Path, events: list[tuple[str, dict[str, Any]]]
    ) -> tuple[str, dict[str, Any]]:
        """Return the session's id, and field of a record → value."""
        named = (event.get("sessionId") for _, event in events)
        session = str(next((name for name in named if name), place.stem))
        messages = [mapping(event.get("message")) for _, event in events]
        spoken = [m for m in messages if m.get("role") == "assistant"]
        usages = {str(m.get("id")): mapping(m.get("usage")) for m in spoken if m.get("usage")}
        parts = [
            mapping(part)
            for m in messages
            for part in (m["content"] if isinstance(m.get("content"), list) else ())
        ]
        calls = {part.get("id") for part in parts if part.get("type") == "tool_use"}
        errors = {part.get("tool_use_id") for part in parts if part.get("is_error")}
        costs = [number(event.get("total_cost_usd")) for _, event in events]
        known = [cost for cost in costs if cost is not None]
        return session, {
            "trace": Trace(
                turns=len({str(m.get("id")) for m in spoken}),
                tool_calls=len(calls),
                tool_errors=len(errors),
            ),
            "latency_ms": _latency(events),
            "cost_usd": known[-1] if known else None,
            **_tokens(usages.values()),
        }


def _tokens(usages: Any) -> dict[str, int | None]:
    totals: dict[str, int] = {}
    for usage in usages:
        for name in (
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
        ):
            if (found := count(usage.get(name))) is not None:
                totals[name] = totals.get(name, 0) + found
    if not totals:
        return {}
    cached = totals.get("cache_read_input_tokens", 0)
    read = totals.get("input_tokens", 0) + cached + totals.get("cache_creation_input_tokens", 0)
    made = totals.get("output_tokens", 0)
    return {
        "input_tokens": read,
        "cached_tokens": cached,
        "output_tokens": made,
        "total_tokens": read + made,
    }
