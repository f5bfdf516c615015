"""Session files (rollouts) of Codex."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import EvaluationError
from assay.evaluation.adapters.files import count, mapping, parse
from assay.evaluation.adapters.sessions import Sessions, latency
from assay.evaluation.record import Trace

_EXITED = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})$", re.MULTILINE)


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
            "latency_ms": latency(events),
            "input_tokens": count(usage.get("input_tokens")),
            "cached_tokens": count(usage.get("cached_input_tokens")),
            "output_tokens": count(usage.get("output_tokens")),
            "total_tokens": count(usage.get("total_tokens")),
        }


def _exit_code(item: Mapping[str, Any]) -> int | None:
    """Return a command's exit code: JSON in old versions, lines above the output in newer ones."""
    if item.get("type") not in ("function_call_output", "custom_tool_call_output"):
        return None
    told = item.get("output")
    if isinstance(told, str):
        head, mark, _ = told.partition("\nOutput:")
        if mark and (said := _EXITED.search(head)):
            return int(said[1])
        try:
            told = parse(told.encode("utf-8", "replace"), "")
        except EvaluationError:
            return None
    return count(mapping(mapping(told).get("metadata")).get("exit_code"))
