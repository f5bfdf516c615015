"""Small leaderboards, as arrays and as shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.identity import digest
from assay.grid.configuration import Configuration
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, Correctness, Item
from assay.leaderboard.null_bands import ScopeBands, null_bands
from assay.leaderboard.null_twin import NullTwin
from assay.records.schema import STATUSES, Record
from assay.records.shard import write_shard

#: Two formats in two orders, and one likelihood configuration; sorted by key.
GRID = ("gen|f|p0", "gen|f|p1", "gen|g|p0", "gen|g|p1", "ll|cloze_plain")
ORDERS = {"p0": (0, 1, 2), "p1": (2, 1, 0)}
ShardWriter = Callable[..., Path]
_STATUS_OF = {MISSING: "oom", NOT_APPLICABLE: "not_applicable"}


def configuration(key: str) -> Configuration:
    scoring, form, *order = key.split("|")
    return Configuration(scoring, form, order[0] if order else None)


def build(
    values: Any,
    *,
    benchmarks: Sequence[str] | None = None,
    keys: Sequence[str] = GRID,
    reference: str = "gen|f|p0",
    options: int = 4,
) -> Correctness:
    """Return a `Correctness` with the given codes, shape (model, item, configuration)."""
    codes = np.asarray(values, np.uint8)
    models, items, _ = codes.shape
    names = benchmarks or ["b"] * items
    statuses = np.vectorize(lambda code: STATUSES.index(_STATUS_OF.get(code, "ok")))(codes)
    return Correctness(
        models=tuple(f"m{k:02d}" for k in range(models)),
        items=tuple(Item(names[i], f"i{i:05d}", f"i{i:05d}", "s", options) for i in range(items)),
        configurations=tuple(configuration(key) for key in keys),
        reference=list(keys).index(reference),
        values=codes,
        statuses=statuses.astype(np.uint8),
        slots=np.full(codes.shape, -1, np.int8),
        gold_slots=np.full(codes.shape[1:], -1, np.int8),
        labels={"f": "upper", "g": "digit"},
    )


def twin_bands(data: Correctness, *, draws: int, seed: int) -> list[ScopeBands]:
    """Return the null bands of every scope."""
    return null_bands(data, NullTwin(data, seed=seed), draws=draws)


def observation(
    key: str, item: str, outcome: str, gold: int, orders: Mapping[str, tuple[int, ...]] = ORDERS
) -> dict[str, Any]:
    """Return an observation; `outcome` is "right", "wrong" or a status."""
    way = configuration(key)
    base: dict[str, Any] = {"key": digest([item, key])}
    if outcome not in ("right", "wrong"):
        unanswered = outcome in ("oom", "backend_error", "not_applicable")
        base |= {"status": outcome, "correct": None if unanswered else False}
        if way.order and outcome != "not_applicable":
            base["order"] = orders[way.order]
            base["text"] = None if unanswered else ""
        return base
    choice = gold if outcome == "right" else (gold + 1) % 3
    base |= {"status": "ok", "correct": outcome == "right", "choice": choice}
    if way.order:
        slot = orders[way.order].index(choice)
        label = ("ABC" if way.format == "f" else "123")[slot]
        base |= {"order": orders[way.order], "label": label, "text": label}
    return base


def write_tiny_shard(
    root: Path,
    model: str,
    benchmark: str,
    outcomes: Mapping[int, Sequence[str]],
    *,
    run: str = "run",
    keys: Sequence[str] = GRID,
    reference: str = "gen|f|p0",
    orders: Mapping[str, tuple[int, ...]] = ORDERS,
    record_model: str | None = None,
) -> Path:
    """Write a shard; `outcomes` maps item number to the outcome under each configuration."""
    records = [
        Record.model_validate(
            {
                "benchmark": benchmark,
                "model": record_model or model,
                "item_id": f"{benchmark}-{number:04d}",
                "native_id": str(number),
                "question": "?",
                "options": ("x", "y", "z"),
                "gold": number % 3,
                "accepts": (number % 3,),
                "subject": "s",
                "cluster": f"{benchmark}-{number:04d}",
                "locked": False,
                "flags": (),
                "observations": {
                    key: observation(key, f"{benchmark}-{number}", outcome, number % 3, orders)
                    for key, outcome in zip(keys, row, strict=True)
                },
            }
        )
        for number, row in outcomes.items()
    ]
    ways = {key: configuration(key) for key in keys}
    facts = {
        "model": model,
        "benchmark": benchmark,
        "reference": reference,
        "configurations": {
            key: {
                "scoring": way.scoring,
                "format": way.format,
                "order": way.order,
                "permutation": None,
            }
            for key, way in ways.items()
        },
        "labels": {"f": "upper", "g": "digit"},
        "snapshot_sha256": "0" * 64,
        "provenance": {},
    }
    folder = root / model / benchmark / run
    write_shard(folder, records, [], facts)
    return folder
