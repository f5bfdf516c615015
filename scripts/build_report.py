"""Write the HTML report of a study: one page that opens offline, and its files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.report.build import build_report
from assay.report.inputs import ReportOptions


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Build the report; title, item policy and licences come from the specification."""
    spec = json.loads(arguments.spec or "{}")
    options = ReportOptions(
        **spec.get("report", {}),
        evaluation=spec.get("evaluation", False),
        licences=spec.get("licences", {}),
        attributions=spec.get("attributions", {}),
    )
    return build_report(
        leaderboard=arguments.leaderboard,
        tables=arguments.tables,
        figures=arguments.figures,
        shards=arguments.shards,
        out=arguments.out,
        options=options,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaderboard", type=Path, required=True, help="leaderboard.json")
    parser.add_argument("--tables", type=Path, required=True, help="folder of tables")
    parser.add_argument("--figures", type=Path, required=True, help="folder of figures")
    parser.add_argument("--shards", type=Path, nargs="+", required=True, help="shard folders")
    parser.add_argument("--out", type=Path, required=True, help="folder of the report")
    sys.exit(run_command(main, parser))
