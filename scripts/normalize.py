"""Read the runs of a cycle, whatever wrote them, into records of one form."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.evaluation.arms import read_runs
from assay.evaluation.steps import Step, plain
from assay.evaluation.write import write_ordered


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Write every record, labelled, and what was read."""
    step = Step.of(arguments.spec)
    runs = read_runs(step.manifest, step.folder, arguments.records)
    write_ordered(arguments.inputs, plain(runs.inputs))
    return [arguments.records, arguments.inputs]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, required=True, help="file of records to write")
    parser.add_argument("--inputs", type=Path, required=True, help="file of digests to write")
    sys.exit(run_command(main, parser))
