"""Bring the pinned source of a benchmark to the cache and record its digests."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.benchmarks.sources import fetch
from assay.benchmarks.spec import BenchmarkSpec
from assay.core.cache import cache_root
from assay.core.command import run_command
from assay.core.files import write_json


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Fetch and verify; write the digests of what was fetched."""
    spec = BenchmarkSpec.model_validate_json(json.dumps(json.loads(arguments.spec)["benchmark"]))
    others = [spec.fewshot] if spec.fewshot else []
    files: dict[str, str] = {}
    for pin in (spec.source, *spec.compare.values(), *others):
        files |= fetch(pin, cache=cache_root(), offline=arguments.offline)
    write_json(arguments.out, {"benchmark": spec.key, "files": files})
    return [arguments.out]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file of digests")
    parser.add_argument("--offline", action="store_true", help="use the cache only")
    sys.exit(run_command(main, parser))
