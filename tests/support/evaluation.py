"""Records for tests of the evaluation core: two arms over the same tasks, made from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.files import write_text
from assay.evaluation.record import EvaluationRecord

HOSTILE = "</script><script>window.planted = 1</script>|<img src=x onerror=alert(1)>"


def attempts(
    rates: dict[str, float],
    *,
    tasks: int = 24,
    repeats: int = 2,
    seed: int = 0,
    variant: str = "baseline",
    **fields: Any,
) -> list[EvaluationRecord]:
    """Return attempts at `tasks` tasks of each area; `rates` is area → success.

    A task's name is the same in every arm; its difficulty is drawn from its area and number.
    """
    rng = np.random.default_rng(seed)
    found = []
    for area, rate in rates.items():
        hard = np.random.default_rng(len(area)).normal(0, 0.08, tasks)
        for number in range(tasks):
            for attempt in range(1, repeats + 1):
                success = bool(rng.random() < np.clip(rate + hard[number], 0.01, 0.99))
                found.append(
                    EvaluationRecord(
                        task_id=f"{area}-{number}",
                        attempt=attempt,
                        variant=variant,
                        task_area=area,
                        capability_tags=(area, "all") if number % 2 else (area,),
                        success=success,
                        score=float(success),
                        failure_code=None if success else "TOOL_SELECTION_FAILED",
                        failure_class=None if success else "capability",
                        **{**_measures(rng), **fields},
                    )
                )
    return found


def _measures(rng: np.random.Generator) -> dict[str, Any]:
    tokens = int(rng.lognormal(8, 0.2))
    return {
        "safety_evaluated": True,
        "safety_violation": False,
        "latency_ms": float(rng.lognormal(9, 0.2)),
        "cost_usd": tokens / 1e6,
        "input_tokens": tokens,
        "output_tokens": 100,
        "total_tokens": tokens + 100,
    }


def write_records(path: Path, records: Iterable[EvaluationRecord]) -> Path:
    """Write plain records as JSON lines."""
    write_text(path, "".join(f"{record.model_dump_json()}\n" for record in records))
    return path


def two_arms(folder: Path, *, better: float = 0.85, **fields: Any) -> dict[str, Any]:
    """Write a baseline, a fresh run of it and a candidate; return the manifest of their cycle."""
    rates = {"search": 0.4, "edit": 0.9}
    changed = {**rates, "search": better}
    for name, arm in _arms(rates, changed, **fields):
        write_records(folder / f"{name}.jsonl", arm)
    return {
        "cycleId": "c1",
        "baseline": {"name": "before", "records": "before.jsonl"},
        "confirmation": {"name": "again", "records": "again.jsonl"},
        "experiments": [
            {
                "name": "after",
                "records": "after.jsonl",
                "hypothesis": {"capabilityTags": ["search"], "proposedChange": "Describe tools."},
            }
        ],
    }


def _arms(
    rates: dict[str, float], changed: dict[str, float], **fields: Any
) -> Iterator[tuple[str, list[EvaluationRecord]]]:
    yield "before", attempts(rates, seed=1)
    yield "again", attempts(rates, seed=2)
    yield "after", attempts(changed, seed=3, **fields)
