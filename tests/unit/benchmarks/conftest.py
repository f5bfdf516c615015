"""Fixtures of the benchmark tests: the registry, the real wheel, small files of items."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.benchmarks.spec import BenchmarkSpec


@pytest.fixture(scope="session")
def registry(project: Path) -> dict[str, BenchmarkSpec]:
    """Return every benchmark of config/benchmarks.yaml."""
    entries = yaml.safe_load((project / "config" / "benchmarks.yaml").read_text("utf-8"))
    return {
        key: BenchmarkSpec.model_validate_json(json.dumps({"key": key, **entry}))
        for key, entry in entries.items()
    }


@pytest.fixture(scope="session")
def normalised(shared: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Return a reader of the shared, normalised items by file name."""

    def read(name: str) -> list[dict[str, Any]]:
        content = (shared / "data" / "mcq" / name).read_bytes()
        if name.endswith(".gz"):
            content = gzip.decompress(content)
        # Split on "\n" only: three MMLU rows contain Unicode line breaks.
        return [json.loads(line) for line in content.split(b"\n") if line.strip()]

    return read


@pytest.fixture
def sums(tmp_path: Path) -> Callable[..., BenchmarkSpec]:
    """Return a maker of small benchmarks of sums in a JSONL file."""

    def make(rows: list[dict[str, Any]] | int = 12, **changes: Any) -> BenchmarkSpec:
        if isinstance(rows, int):
            rows = [sum_row(number) for number in range(rows)]
        path = tmp_path / "sums.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        entry = {
            "key": "sums",
            "source": {"kind": "path", "path": str(path)},
            "adapter": "generic",
            "licence": "CC0",
            "columns": {"id": "id", "subject": "topic"},
            **changes,
        }
        return BenchmarkSpec.model_validate_json(json.dumps(entry))

    return make


def sum_row(number: int) -> dict[str, Any]:
    """Return a question whose keyed option is its third."""
    return {
        "id": f"sum-{number:03d}",
        "topic": f"topic {number % 3}",
        "question": f"What is {number} + {number}?",
        "options": [str(2 * number + shift) for shift in (1, 2, 0, 3)],
        "answer": 2,
    }
