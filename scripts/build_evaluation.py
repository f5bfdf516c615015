"""Write the evaluation page of a study: one page for all of its cycles."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.evaluation.cycle import read_report
from assay.evaluation.equal_arms import Calibration
from assay.evaluation.steps import read_result
from assay.report.downloads import copy, link
from assay.report.evaluation import write_page

FILES = ("cycle-report.json", "cycle-report.md", "hypotheses.json")


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Write the page, with links to the files of every cycle."""
    reports = {folder: read_report(folder / "cycle-report.json") for folder in arguments.reports}
    calibration = {
        path.parent.name: read_result(path, tuple[Calibration, ...]) for path in arguments.equal
    }
    out = arguments.out
    copies = [
        copy(folder / name, out.parent / "evaluation" / report.cycle_id / name)
        for folder, report in reports.items()
        for name in FILES
    ]
    page = write_page(
        list(reports.values()),
        out,
        home="index.html",
        downloads=[(f"{one.parent.name}/{one.name}", link(one, out)) for one in copies],
        calibration=calibration,
    )
    return [page, *copies]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--reports", type=Path, nargs="+", required=True, help="folders of the cycles"
    )
    parser.add_argument("--equal", type=Path, nargs="*", default=[], help="rates on equal arms")
    parser.add_argument("--out", type=Path, required=True, help="page to write")
    sys.exit(run_command(main, parser))
