"""Freeze the selected items of a benchmark into a snapshot with a manifest."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.benchmarks.snapshot import build_snapshot
from assay.benchmarks.spec import BenchmarkSpec, Selection
from assay.core.cache import cache_root
from assay.core.command import run_command


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Build the snapshot from the cache; no connection is opened."""
    value = json.loads(arguments.spec)
    build_snapshot(
        BenchmarkSpec.model_validate_json(json.dumps(value["benchmark"])),
        Selection.model_validate_json(json.dumps(value["selection"])),
        cache=cache_root(),
        offline=True,
        target=arguments.out,
    )
    return sorted(file for file in arguments.out.iterdir() if file.name in arguments.files)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the snapshot")
    parser.add_argument(
        "--files", nargs="*", default=["items.jsonl", "manifest.json"], help="files to seal"
    )
    sys.exit(run_command(main, parser))
