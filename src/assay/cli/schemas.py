"""JSON Schemas generated from the pydantic models; a test fails when the files drift."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from assay.benchmarks.spec import BenchmarkSpec
from assay.config.schema import RunConfig
from assay.core.files import write_text
from assay.core.spec import ModelSpec
from assay.evaluation.cycle import CycleReport
from assay.evaluation.manifest import CycleManifest
from assay.evaluation.policy import Policy
from assay.evaluation.record import EvaluationRecord
from assay.grid.configuration import Grid
from assay.leaderboard import leaderboard_schema
from assay.records.manifest import Manifest
from assay.records.schema import Record


def schemas() -> dict[str, dict[str, Any]]:
    """Return file name → JSON Schema."""
    models: dict[str, type[BaseModel]] = {
        "run": RunConfig,
        "model": ModelSpec,
        "benchmark": BenchmarkSpec,
        "grid": Grid,
        "record": Record,
        "manifest": Manifest,
        "evaluation-record": EvaluationRecord,
        "policy": Policy,
        "cycle": CycleManifest,
        "cycle-report": CycleReport,
    }
    found = {name: model.model_json_schema() for name, model in models.items()}
    return {
        f"{name}.schema.json": value
        for name, value in {**found, "leaderboard": leaderboard_schema()}.items()
    }


def schema_text(value: dict[str, Any]) -> str:
    """Return a schema as it is written to its file."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> list[Path]:
    """Write every schema to `folder` and return the paths."""
    paths = []
    for name, value in schemas().items():
        write_text(folder / name, schema_text(value))
        paths.append(folder / name)
    return paths
