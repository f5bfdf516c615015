"""Collect jobs that ask a server on loopback; run as a program they can be killed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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
from support.embedded import item
from support.workspace import TINY_GRID

#: The tiny grid without likelihood, for servers that give no log-probabilities.
GENERATION = {key: value for key, value in TINY_GRID.items() if key != "likelihood"}


def items(count: int) -> list[Item]:
    """Return items of four options that all differ."""
    return [
        item(n, f"What is {n} plus {n}?", (f"{2 * n}", f"{2 * n + 1}", f"sum {n}", f"none of {n}"))
        for n in range(count)
    ]


def api_job(url: str, count: int, *, grid: dict[str, Any] = TINY_GRID, **changes: Any) -> Job:
    """Return a job for the server at `url`; `changes` are fields of its access."""
    access = {"timeout_s": 1.0, "attempts": 6, "concurrency": 8} | changes
    source = ApiPin.model_validate_json(
        json.dumps({"base_url": url, "model": "words-1", "access": access})
    )
    return Job(
        spec=ModelSpec(key="served", family="words", source=source, licence="none"),
        benchmark="own",
        items=items(count),
        grid=Grid.model_validate_json(json.dumps(grid)),
        max_new_tokens=4,
        token_budget=0,
        # The port of a test's server is no part of what is compared.
        origin={"model": {"served": "words-1"}, "backend": "api"},
        facts={"snapshot_sha256": "0" * 64, "provenance": {}},
        backend="api",
    )


def run(job: Job, folder: Path, **options: Any) -> Manifest:
    """Collect the shard of `job` in `folder`."""
    wanted = needed(job.grid)
    return collect(
        job,
        folder,
        WordRenderer(job.spec),
        lambda: ApiModel.connect(job.spec, folder / REPLIES, needed=wanted),
        **options,
    )


if __name__ == "__main__":
    run(api_job(sys.argv[1], int(sys.argv[2]), timeout_s=20), Path(sys.argv[3]))
