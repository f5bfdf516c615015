"""Runs hub operations in a process of its own, since `HF_ENDPOINT` is read at import.

Reads a JSON list of [operation, cache, arguments…] from standard input and prints one JSON line
for each: the result, or {"error": message} for an `AssayError`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from assay.benchmarks import sources
from assay.benchmarks.snapshot import build_snapshot
from assay.benchmarks.sources import hub
from assay.benchmarks.spec import BenchmarkSpec, Selection
from assay.core.errors import AssayError
from assay.core.pins import HubPin


def _pin(value: dict[str, Any]) -> HubPin:
    return HubPin.model_validate_json(json.dumps(value))


def fetch(cache: Path, pin: dict[str, Any], offline: bool) -> Any:
    return sources.fetch(_pin(pin), cache, offline)


def rows(cache: Path, pin: dict[str, Any], offline: bool) -> Any:
    return [value for _, value in sources.read_rows(_pin(pin), cache, offline)]


def model(cache: Path, pin: dict[str, Any], offline: bool, code: bool = False) -> Any:
    folder = hub.download_model(_pin(pin), cache, offline, code=code)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def resolve(cache: Path, repo: str, kind: str, branch: str) -> Any:
    return hub.resolve_revision(repo, kind, branch)  # type: ignore[arg-type]


def snapshot(cache: Path, spec: dict[str, Any], selection: dict[str, Any], target: str) -> Any:
    manifest = build_snapshot(
        BenchmarkSpec.model_validate_json(json.dumps(spec)),
        Selection.model_validate_json(json.dumps(selection)),
        cache=cache,
        offline=False,
        target=Path(target),
    )
    return manifest.model_dump(mode="json")


def imported(cache: Path) -> Any:
    return sorted({"datasets", "huggingface_hub"} & set(sys.modules))


if __name__ == "__main__":
    for name, cache, *arguments in json.load(sys.stdin):
        try:
            answer = globals()[name](Path(cache), *arguments)
        except AssayError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer))
