"""Damage to what jobs read: snapshots, seals, tables, a model in the cache, the run file."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.benchmarks.snapshot import read_snapshot
from assay.config import load_study
from assay.core.errors import AssayError
from assay.core.files import write_json
from assay.core.seal import verify_seal
from assay.models.fetch import read_location
from assay.models.files import model_digest, refuse_altered
from faults import workflow
from faults.damage import damaged
from faults.row import Row
from support.api_server import Counting, Server, serving

NAMES = (
    "items of a snapshot",
    "manifest of a snapshot",
    "seal of a snapshot",
    "where a model lies",
    "numbers of the analysis",
    "a table",
    "seal of the analysis",
    "weights in the cache",
    "tokenizer in the cache",
    "run file",
)


@dataclass(frozen=True)
class Input:
    """A file, and what its readers make of it, which must not change without a word."""

    path: Path
    read: Callable[[], Any]


def inputs(project: Path, base: Path) -> dict[str, Input]:
    """Run the workflow once and return what its jobs read, by `NAMES`."""
    with serving(Server(Counting())) as server:
        space = workflow.workspace(project, base / "inputs", server.url)
        ran = space.snakemake()
        assert ran.status == 0, ran.output
    results = space.root / "results"
    (snapshot,) = results.glob("snapshots/*/*")
    (seal,) = results.glob("*/manifests/leaderboard.json")
    (study,) = results.glob("*/leaderboard.json")
    table = study.parent / "tables/accuracy.parquet"
    weights = model(base / "model")
    digests = model_digest(weights)
    location = base / "location.json"
    write_json(location, {"model": "m", "folder": weights.name, "digests": digests})
    run = base / "run.yaml"
    shutil.copy2(project / "config/study.yaml", run)

    def items() -> Any:
        verify_seal(snapshot / "seal.json")
        return read_snapshot(snapshot).items

    def tables() -> Any:
        verify_seal(seal)
        return study.read_bytes(), table.read_bytes()

    def cached() -> Any:
        refuse_altered(weights, digests)
        return digests

    def located() -> Any:
        found = read_location(location)
        assert found.folder is not None
        refuse_altered(base / found.folder, found.digests)
        return found.digests

    read = [
        Input(snapshot / "items.jsonl", items),
        Input(snapshot / "manifest.json", items),
        Input(snapshot / "seal.json", items),
        Input(location, located),
        Input(study, tables),
        Input(table, tables),
        Input(seal, tables),
        Input(weights / "model.safetensors", cached),
        Input(weights / "tokenizer.json", cached),
        Input(run, lambda: load_study(project / "config/config.yaml", run)),
    ]
    return dict(zip(NAMES, read, strict=True))


def model(folder: Path) -> Path:
    """Write files with the names of a model's; nothing here looks into them."""
    folder.mkdir(parents=True)
    noise = random.Random(1).randbytes(100_000)
    (folder / "model.safetensors").write_bytes(noise)
    (folder / "tokenizer.json").write_bytes(noise[:5_000])
    (folder / "config.json").write_text("{}")
    return folder


def campaign(name: str, one: Input, regions: int, seed: int = 0) -> Row:
    """Damage a file in each of `regions` regions and read it as the next job would."""
    row, chance = Row(f"{name} damaged"), random.Random(f"{name} {seed}")
    whole = one.path.read_bytes()
    expected = one.read()
    for changed in damaged(whole, regions, chance):
        one.path.write_bytes(changed)
        row.times += 1
        row.met += changed != whole
        try:
            found = one.read()
        except AssayError:
            row.refused += 1
            continue
        # A run file that still says something says something else, and asks for other folders.
        row.differ += name != "run file" and changed != whole and found != expected
    one.path.write_bytes(whole)
    return row
