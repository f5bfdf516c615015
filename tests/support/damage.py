"""Logs of every runner, and ways in which a log gets damaged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from support.twin import write_twin

RUNNERS = Path(__file__).parents[1] / "data" / "runners"
Mutation = Callable[[np.random.Generator, bytes], bytes]

HOSTILE = [
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"123456789012345678901234567890",
    b"null",
    b"[]",
    b"{}",
    b'"\\ud800"',
    b'"../../../etc/passwd"',
    b'"<script>alert(1)</script>"',
    b"true",
    b"-1",
    b'"' + b"x" * 5000 + b'"',
    b"[" * 3000 + b"]" * 3000,
    b"9" * 5000,
]


@dataclass(frozen=True)
class Log:
    """The files of one run, one of which gets damaged.

    Attributes
    ----------
    files : dict
        Path in the run's folder → content.
    damaged : str
        One of `files`.
    read : str
        What the reader is given: a file, or ``.`` for the folder.
    verdicts : str
        The file of verdicts of a session.
    sealed : bool
        Whether the damage is described anew in the shard's manifest, so that a reader meets it.
    """

    adapter: str
    files: dict[str, bytes] = field(repr=False)
    damaged: str
    read: str = "."
    verdicts: str = ""
    sealed: bool = False

    def write(self, folder: Path, content: bytes) -> tuple[Path, dict[str, Any]]:
        """Write the run with `content` as the damaged file; return what to read, and how."""
        for name, whole in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content if name == self.damaged else whole)
        if self.sealed:
            seal(folder / self.damaged)
        options = {"verdicts": str(folder / self.verdicts)} if self.verdicts else {}
        return folder / self.read, options


def seal(path: Path) -> None:
    """Describe a shard's file in its manifest as it is now."""
    place, content = path.with_name("manifest.json"), path.read_bytes()
    manifest = json.loads(place.read_bytes())
    manifest["files"][path.name] = {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    place.write_text(json.dumps(manifest))


def _cut(rng: np.random.Generator, text: bytes) -> bytes:
    return text[: rng.integers(len(text))]


def _flip(rng: np.random.Generator, text: bytes) -> bytes:
    changed = bytearray(text)
    for place in rng.integers(len(text), size=rng.integers(1, 6)):
        changed[place] = rng.integers(256)
    return bytes(changed)


def _replace_value(rng: np.random.Generator, text: bytes) -> bytes:
    places = [k for k, byte in enumerate(text) if byte == ord(":")]
    if not places:
        return _flip(rng, text)
    start = places[rng.integers(len(places))] + 1
    end = min((p for p in (text.find(b",", start), text.find(b"}", start)) if p > 0), default=start)
    return text[:start] + HOSTILE[rng.integers(len(HOSTILE))] + text[end:]


def _rename_key(rng: np.random.Generator, text: bytes) -> bytes:
    places = [k for k in range(len(text) - 1) if text[k : k + 2] == b'":']
    if not places:
        return _cut(rng, text)
    place = places[rng.integers(len(places))]
    return text[:place] + b"X" + text[place:]


def _lines(rng: np.random.Generator, text: bytes) -> bytes:
    """Shuffle, repeat or drop lines."""
    parts = text.splitlines(keepends=True)
    return b"".join(parts[k] for k in rng.integers(len(parts), size=len(parts)))


def _decorate(rng: np.random.Generator, text: bytes) -> bytes:
    ways = [
        b"\xef\xbb\xbf" + text,
        text.replace(b"\n", b"\r\n"),
        text + text,
        b"\x00" + text,
        text.decode("latin-1").encode("utf-16"),
        text.replace(b"T", b" "),
        b"",
    ]
    return ways[rng.integers(len(ways))]


MUTATIONS: list[Mutation] = [_cut, _flip, _replace_value, _rename_key, _lines, _decorate]


def logs(folder: Path) -> list[Log]:
    """Return runs of every format, among them those that runners wrote."""
    return [*_single(), *_harbor(), *_sessions(), *_shards(folder)]


def _single() -> Iterator[Log]:
    entry = {"instance_id": "i", "stats": [{"name": {"name": "exact_match"}, "mean": 1.0}]}
    evals = [
        {"spec": {"run_id": "r"}},
        {"sample_id": "s", "type": "match", "data": {"correct": True}},
        {"sample_id": "s", "type": "sampling", "data": {"usage": {"total_tokens": 3}}},
        {"sample_id": "t", "type": "error", "data": {"type": "RateLimitError", "message": "m"}},
    ]
    plain = [{"taskId": "a", "success": True, "costUsd": 0.1}, {"task_id": "b", "attempt": 2}]
    one = {"a__b-1": {"resolved": False, "patch_successfully_applied": True}}
    for adapter, name, text in (
        ("swe-bench", "report.json", json.dumps(one)),
        ("helm", "per_instance_stats.json", json.dumps([entry, entry])),
        ("openai-evals", "evals.jsonl", jsonl(*evals).decode()),
        ("records", "plain.jsonl", jsonl(*plain).decode()),
        ("records", "plain.csv", "taskId,success,costUsd\na,true,0.1\nb,false,\n"),
    ):
        yield Log(adapter, {name: text.encode()}, name, name)
    for adapter, path in (
        ("lm-eval", next((RUNNERS / "lm_eval").glob("samples_toy_mc*"))),
        ("inspect", RUNNERS / "inspect" / "toy.eval"),
        ("inspect", RUNNERS / "inspect" / "toy_errors.json"),
        ("inspect", RUNNERS / "inspect" / "limits.json"),
        ("swe-bench", RUNNERS / "swe_bench" / "stand-in.run.json"),
        ("terminal-bench", RUNNERS / "terminal_bench" / "results.json"),
        ("lighteval", next((RUNNERS / "lighteval").iterdir())),
    ):
        yield Log(adapter, {path.name: path.read_bytes()}, path.name, path.name)


def _harbor() -> Iterator[Log]:
    span = {"started_at": "2026-03-08T04:33:00Z", "finished_at": "2026-03-08T04:33:02"}
    step = {"verifier_result": {"rewards": {"reward": 1}}, "agent_execution": span}
    trial = {
        "task_name": "org/t",
        "trial_name": "t",
        "started_at": "2026-03-08T04:32:55Z",
        "verifier_result": {"rewards": {"reward": 0.5, "safety": 1}},
        "agent_result": {"n_input_tokens": 3, "n_output_tokens": 4, "cost_usd": 0.1},
        "agent_execution": span,
        "exception_info": {"exception_type": "X", "exception_message": "m"},
    }
    result = {"extra": {"tool_result_is_error": True}}
    steps = [{"source": "agent", "tool_calls": [{}], "observation": {"results": [result]}}]
    events = [{"event": "tool_result", "isError": True}, {"event": "tool_blocked"}]
    files = {
        "a/result.json": json.dumps(trial).encode(),
        "a/agent/trajectory.json": json.dumps({"steps": steps}).encode(),
        "b/result.json": json.dumps(
            trial | {"agent_result": None, "step_results": [step]}
        ).encode(),
        "b/agent/equaxis-harness-traces.jsonl": jsonl(*events),
        "result.json": b'{"n_total_trials": 2, "stats": {}}',
    }
    for name in files:
        yield Log("harbor", files, name)


def _sessions() -> Iterator[Log]:
    stamp = {"timestamp": "2026-01-01T00:00:00Z"}
    usage = {"input_tokens": 5, "cached_input_tokens": 3, "output_tokens": 2, "total_tokens": 7}
    count = {"type": "token_count", "info": {"total_token_usage": usage}}
    bad = json.dumps({"output": "no", "metadata": {"exit_code": 2}})
    parts = [{"type": "tool_use", "id": "u1"}, {"type": "text", "text": "x"}]
    said = {"id": "m", "role": "assistant", "content": parts, "usage": usage}
    result = {"type": "tool_result", "tool_use_id": "u1", "is_error": True}
    heard = {"role": "user", "content": [result]}
    sessions = {
        "codex": (
            {"type": "session_meta", "payload": {"id": "S"}} | stamp,
            {"type": "turn_context", "payload": {}},
            {"type": "response_item", "payload": {"type": "function_call", "name": "shell"}},
            {"type": "response_item", "payload": {"type": "function_call_output", "output": bad}},
            {"type": "event_msg", "payload": count} | stamp,
        ),
        "claude-code": (
            {"type": "assistant", "sessionId": "S", "message": said} | stamp,
            {"type": "user", "sessionId": "S", "message": heard} | stamp,
            {"type": "result", "total_cost_usd": 0.25},
        ),
        "runtime-traces": (
            {"event": "turn_start", "sessionId": "S"} | stamp,
            {"event": "tool_call", "sessionId": "S"},
            {"event": "tool_result", "sessionId": "S", "isError": True},
            {"event": "tool_validation_failed", "sessionId": "S", "repairAllowed": False},
            {"event": "agent_end", "sessionId": "S", "costUsd": 0.5} | stamp,
        ),
    }
    verdict = {"taskId": "t", "trialId": "S", "success": False}
    for adapter, lines in sessions.items():
        files = {"s/S.jsonl": jsonl(*lines), "v.jsonl": jsonl(verdict)}
        for name in files:
            yield Log(adapter, files, name, "s/S.jsonl", "v.jsonl")


def _shards(folder: Path) -> Iterator[Log]:
    (shard,) = write_twin(folder, models=1, items_per_benchmark=2, benchmarks=("arc",))
    files = {path.name: path.read_bytes() for path in shard.iterdir()}
    for name in files:
        yield Log("assay", files, name)
    yield Log("assay", files, "records.jsonl", sealed=True)


def jsonl(*rows: Any) -> bytes:
    """Return JSON lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
