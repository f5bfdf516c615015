"""Bring a pinned model to the cache, convert it once, and record its digests."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.cache import cache_root
from assay.core.command import run_command
from assay.core.files import write_json
from assay.core.spec import ModelSpec
from assay.models.fetch import locate_model


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Fetch and convert; write where the weights lie under the cache, and their digests."""
    spec = ModelSpec.model_validate_json(json.dumps(json.loads(arguments.spec)["model"]))
    found = locate_model(spec, cache=cache_root(), offline=arguments.offline)
    write_json(arguments.out, found.model_dump())
    return [arguments.out]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file of digests")
    parser.add_argument("--offline", action="store_true", help="use the cache only")
    sys.exit(run_command(main, parser))
