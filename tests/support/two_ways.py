"""One shard of the embedded model, asked here and through a server, and compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.benchmarks.item import Item
from assay.core.pins import ApiPin
from assay.core.spec import ModelSpec
from assay.grid.collect import collect
from assay.grid.configuration import Grid
from assay.grid.consumers import needed
from assay.grid.job import REPLIES, Job
from assay.models.backends.api import ApiModel
from assay.models.words import WordRenderer
from assay.records.manifest import Manifest
from assay.records.schema import Record
from assay.records.shard import read_shard
from support.embedded import ITEMS

#: What must be the same, whoever runs the weights.
ALIKE = (
    *("status", "correct", "choice", "order", "label", "rule", "text", "finish"),
    *("prompt_tokens", "flags"),
)


def job(spec: ModelSpec, grid: dict[str, Any], items: Sequence[Item] = ITEMS) -> Job:
    """Return the shard of `items` under `grid`."""
    return Job(
        spec=spec,
        benchmark="own",
        items=items,
        grid=Grid.model_validate_json(json.dumps(grid)),
        max_new_tokens=8,
        token_budget=1024,
        origin={},
        facts={"snapshot_sha256": "0" * 64, "provenance": {}},
        backend="api" if spec.served else "hf_local",
    )


def served(spec: ModelSpec, url: str, name: str, **access: Any) -> ModelSpec:
    """Return the entry of the same model behind the server at `url`."""
    value = {"base_url": url, "model": name, "access": {"timeout_s": 120} | access}
    return spec.model_copy(update={"source": ApiPin.model_validate_json(json.dumps(value))})


def collect_there(asked: Job, folder: Path) -> Manifest:
    """Collect a shard from the server of its model."""
    return collect(
        asked,
        folder,
        WordRenderer(asked.spec),
        lambda: ApiModel.connect(asked.spec, folder / REPLIES, needed=needed(asked.grid)),
    )


def records(folder: Path) -> list[Record]:
    """Return the records of a shard."""
    return list(read_shard(folder).records())


def compare(here: Path, there: Path, *, but: str = "") -> float:
    """Check that two shards say the same; return the largest difference of a score, in nats.

    `but` names a field that may differ.
    """
    worst = 0.0
    for ours, theirs in zip(records(here), records(there), strict=True):
        assert ours.item_id == theirs.item_id
        for key, other in theirs.observations.items():
            own = ours.observations[key]
            for name in (name for name in ALIKE if name != but):
                assert getattr(own, name) == getattr(other, name), (key, name)
            if own.scores is not None and other.scores is not None:
                assert other.scores.sum == pytest.approx(own.scores.sum, abs=1e-3)
                pairs = zip(own.scores.sum, other.scores.sum, strict=True)
                worst = max([worst, *(abs((a or 0.0) - (b or 0.0)) for a, b in pairs)])
    return worst
