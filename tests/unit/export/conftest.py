from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.core.identity import digest
from assay.records.schema import Record
from assay.records.shard import Prompt, write_shard
from support.peers import EVERY_EVAL_EVER, LM_EVAL, wheel
from support.twin import write_twin

WAYS = {
    "gen|f|p0": {"scoring": "gen", "format": "f", "order": "p0", "permutation": [0, 1, 2, 3]},
    "gen|f|p1": {"scoring": "gen", "format": "f", "order": "p1", "permutation": [1, 2, 3, 0]},
    "ll|cloze": {"scoring": "ll", "format": "cloze", "order": None, "permutation": None},
}
FACTS = {
    "benchmark": "odd",
    "reference": "gen|f|p0",
    "configurations": WAYS,
    "labels": {"f": "upper"},
    "snapshot_sha256": "0" * 64,
    "provenance": {},
}


def observed(item: str, key: str, options: int, **known: Any) -> dict[str, Any]:
    """Return an observation; by default a right answer to an item whose gold is option 0."""
    base = {"key": digest([item, key]), "status": "ok", "correct": True, "choice": 0}
    if key.startswith("ll"):
        sums = [-1.0 - k for k in range(options)]
        scores = {"sum": sums, "token": sums, "byte": sums}
        return base | {"scores": scores, "margin": 1.0, "prompt_tokens": 5} | known
    shift = int(key[-1])
    order = [(k + shift) % options for k in range(options)]
    label = "ABCDE"[order.index(0)]
    text = {"order": order, "label": label, "text": label, "prompt_tokens": 9, "new_tokens": 1}
    return base | text | known


def record(model: str, item: str, options: int, **unusual: dict[str, Any]) -> Record:
    """Return a record; `unusual` maps "p0", "p1" or "ll" to what differs from a right answer."""
    names = {"gen|f|p0": "p0", "gen|f|p1": "p1", "ll|cloze": "ll"}
    return Record.model_validate(
        {
            "benchmark": "odd",
            "model": model,
            "item_id": item,
            "native_id": item,
            "question": f"What is {item}?",
            "options": [f"option {k}" for k in range(options)],
            "gold": 0,
            "accepts": [0],
            "subject": "s",
            "cluster": f"twins-{options % 2}",
            "locked": options == 5,
            "flags": [],
            "observations": {
                key: observed(item, key, options, **unusual.get(name, {}))
                for key, name in names.items()
            },
        }
    )


NOT_ASKED: dict[str, Any] = {
    "status": "not_applicable",
    **dict.fromkeys(("correct", "choice", "order", "label", "text", "prompt_tokens", "new_tokens")),
}
NO_ANSWER: dict[str, Any] = {
    "status": "oom",
    **dict.fromkeys(("correct", "choice", "label", "text", "new_tokens")),
}
WRONG: dict[str, Any] = {"correct": False, "choice": 1, "label": "B", "text": "Answer: B"}


def shard(root: Path, model: str, records: Sequence[Record]) -> Path:
    """Write a shard; a prompt for everything that was asked."""
    prompts = [
        Prompt(r.item_id, key, f"{r.question} ({key})")
        for r in records
        for key, o in r.observations.items()
        if o.prompt_tokens is not None
    ]
    write_shard(root / model / "odd" / "run", records, prompts, FACTS | {"model": model})
    return root


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Two models on items of two, three and five options; one locked, one answer missing."""
    root = tmp_path / "odd"
    shard(
        root,
        "first",
        [
            record("first", "i3", 3),
            record("first", "i5", 5, p1=NOT_ASKED),
            record("first", "i2", 2, p0=WRONG),
        ],
    )
    none = {"status": "none", "correct": False, "choice": None, "label": None, "text": "hm"}
    return shard(
        root,
        "second",
        [
            record("second", "i3", 3, p0=NO_ANSWER),
            record("second", "i5", 5, p1=NOT_ASKED, p0=none),
            record("second", "i2", 2, ll={"correct": False, "choice": 1, "margin": 0.1}),
        ],
    )


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic leaderboard of the released grid, with locked items."""
    root = tmp_path_factory.mktemp("twin")
    write_twin(root, models=2, items_per_benchmark=40, benchmarks=("arc", "mmlu"), seed=3)
    return root


@pytest.fixture(scope="session")
def every_eval_ever(assay_cache: Path) -> Path:
    """The wheel of that project."""
    return wheel(EVERY_EVAL_EVER, assay_cache)


@pytest.fixture(scope="session")
def lm_eval(assay_cache: Path) -> Path:
    """The wheel of that project."""
    return wheel(LM_EVAL, assay_cache)
