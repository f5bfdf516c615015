"""Say where a baseline fails."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.evaluation.arms import Runs
from assay.evaluation.cycle import policy_of
from assay.evaluation.diagnosis import diagnose
from assay.evaluation.steps import Step, plain
from assay.evaluation.write import write_ordered


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Diagnose the baseline."""
    step = Step.of(arguments.spec)
    policy = policy_of(step.manifest, step.folder)
    runs = Runs(step.manifest, arguments.records)
    write_ordered(arguments.out, plain(diagnose(runs.arm("baseline"), policy=policy)))
    return [arguments.out]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, required=True, help="records of the runs")
    parser.add_argument("--out", type=Path, required=True, help="diagnosis to write")
    sys.exit(run_command(main, parser))
