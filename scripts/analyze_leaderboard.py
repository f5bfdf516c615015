"""Turn shards into the leaderboard: tables for reading, numbers as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.leaderboard import analyze, write


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Analyse the shards; every one is verified against its manifest first."""
    value = json.loads(arguments.spec)
    leaderboard = analyze(
        arguments.shards,
        study=value["study"],
        alpha=value["analysis"]["alpha"],
        equivalence_margin=value["analysis"]["equivalence_margin"],
        seed=value["analysis"]["seed"],
        absent=value["absent"],
        allow_missing=value["allow_missing"],
    )
    return write(leaderboard, arguments.out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=Path, nargs="+", required=True, help="shard folders")
    parser.add_argument("--out", type=Path, required=True, help="folder of the study")
    sys.exit(run_command(main, parser))
