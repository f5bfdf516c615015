"""Session files of Claude Code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from assay.evaluation.adapters.files import count, mapping, number
from assay.evaluation.adapters.sessions import Sessions, latency
from assay.evaluation.record import Trace


class ClaudeCode(Sessions):
    """Sessions of Claude Code.

    A message is spread over lines, one for each part of its content, and each line repeats what
    was used so far: parts add up, and of a number the last one counts.
    """

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
        usages: dict[str, dict[str, Any]] = {}
        for k, (_, event) in enumerate(events):
            if messages[k].get("role") == "assistant":
                said = mapping(messages[k].get("usage"))
                known = {name: value for name, value in said.items() if value is not None}
                usages.setdefault(_named(messages[k], event, k), {}).update(known)
        parts = [
            mapping(part)
            for m in messages
            for part in (m["content"] if isinstance(m.get("content"), list) else ())
        ]
        calls = {_named(part, {}, k) for k, part in enumerate(parts) if _is_call(part)}
        errors = {str(part.get("tool_use_id")) for part in parts if part.get("is_error")}
        costs = [number(event.get("total_cost_usd")) for _, event in events]
        paid = [cost for cost in costs if cost is not None]
        return session, {
            "trace": Trace(
                turns=len(usages),
                tool_calls=len(calls),
                tool_errors=len(errors),
            ),
            "latency_ms": latency(events),
            "cost_usd": paid[-1] if paid else None,
            **_tokens(usages.values()),
        }


def _named(what: Mapping[str, Any], event: Mapping[str, Any], number: int) -> str:
    """Return what tells a message or a call from others: its id, or its place."""
    return str(what.get("id") or event.get("uuid") or f"#{number}")


def _is_call(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "tool_use"


def _tokens(usages: Iterable[Mapping[str, Any]]) -> dict[str, int | None]:
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
