"""Damaged logs: whatever is done to a file, it is read right or refused with an error of ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.evaluation.adapters import read_records
from assay.evaluation.record import EvaluationRecord

RUNNERS = Path(__file__).parents[3] / "data" / "runners"
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
]


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


MUTATIONS: list[Mutation] = [_cut, _flip, _replace_value, _rename_key, _decorate]


def originals(folder: Path) -> list[tuple[str, str, bytes]]:
    """Return (adapter, file name, content) of one file of every format."""
    trial = {
        "task_name": "org/t",
        "trial_name": "t",
        "started_at": "2026-03-08T04:32:55Z",
        "verifier_result": {"rewards": {"reward": 0.5, "safety": 1}},
        "agent_result": {"n_input_tokens": 3, "n_output_tokens": 4, "cost_usd": 0.1},
        "agent_execution": {
            "started_at": "2026-03-08T04:33:00Z",
            "finished_at": "2026-03-08T04:33:02",
        },
        "exception_info": {"exception_type": "X", "exception_message": "m"},
    }
    bench = {"task_id": "a", "is_resolved": False, "trial_started_at": "2026-01-01T00:00:00"}
    report = {"resolved_ids": ["a__b-1"], "error_ids": ["a__b-2"]}
    entry = {"instance_id": "i", "stats": [{"name": {"name": "exact_match"}, "mean": 1.0}]}
    evals = [
        {"spec": {"run_id": "r"}},
        {"sample_id": "s", "type": "match", "data": {"correct": True}},
    ]
    plain = [{"taskId": "a", "success": True, "costUsd": 0.1}, {"task_id": "b", "attempt": 2}]
    found = [
        ("harbor", "result.json", json.dumps(trial)),
        ("terminal-bench", "results.json", json.dumps({"results": [bench, bench]})),
        ("swe-bench", "report.json", json.dumps(report)),
        ("helm", "per_instance_stats.json", json.dumps([entry, entry])),
        ("openai-evals", "evals.jsonl", "\n".join(map(json.dumps, evals))),
        ("records", "plain.jsonl", "\n".join(map(json.dumps, plain))),
        ("records", "plain.csv", "taskId,success,costUsd\na,true,0.1\nb,false,\n"),
    ]
    texts = [(adapter, name, text.encode()) for adapter, name, text in found]
    files = [
        ("lm-eval", next((RUNNERS / "lm_eval").glob("samples_toy_mc*"))),
        ("inspect", RUNNERS / "inspect" / "toy.eval"),
        ("inspect", RUNNERS / "inspect" / "toy_errors.json"),
        ("lighteval", next((RUNNERS / "lighteval").iterdir())),
    ]
    return texts + [(adapter, path.name, path.read_bytes()) for adapter, path in files]


def campaign(folder: Path, times: int, seed: int) -> tuple[int, int]:
    """Mutate files; return how often one was read, and how often refused."""
    rng = np.random.default_rng(seed)
    whole = originals(folder)
    read = refused = 0
    for _ in range(times):
        adapter, name, content = whole[rng.integers(len(whole))]
        mutate = MUTATIONS[rng.integers(len(MUTATIONS))]
        path = folder / name
        path.write_bytes(mutate(rng, content))
        for named in (adapter, None):
            try:
                found = list(read_records(path, adapter=named))
            except AssayError:
                refused += 1
                continue
            read += 1
            for record in found:
                assert EvaluationRecord.model_validate_json(record.model_dump_json()) == record
                assert not str(record.result_path).startswith(("/", ".."))
    return read, refused


def test_what_is_not_mutated_is_read(tmp_path: Path) -> None:
    for adapter, name, content in originals(tmp_path):
        (tmp_path / name).write_bytes(content)
        assert list(read_records(tmp_path / name, adapter=adapter))


def test_some_hundred_mutations(tmp_path: Path) -> None:
    read, refused = campaign(tmp_path, 400, seed=1)
    assert read > 50
    assert refused > 50


@pytest.mark.slow
def test_ten_thousand_mutations(tmp_path: Path) -> None:
    read, refused = campaign(tmp_path, 10_000, seed=2)
    assert read + refused == 20_000
