"""Compare the candidates of a cycle with its baseline."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.evaluation.arms import Runs
from assay.evaluation.cycle import compare_arms, policy_of
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.steps import Step, plain, read_result
from assay.evaluation.write import write_ordered


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Compare every candidate."""
    step = Step.of(arguments.spec)
    policy = policy_of(step.manifest, step.folder)
    hypotheses = read_result(arguments.hypotheses, tuple[ImprovementHypothesis, ...])
    runs = Runs(step.manifest, arguments.records)
    write_ordered(arguments.out, plain(compare_arms(runs, hypotheses, policy)))
    return [arguments.out]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, required=True, help="records of the runs")
    parser.add_argument(
        "--hypotheses", type=Path, required=True, help="hypotheses of the diagnosis"
    )
    parser.add_argument("--out", type=Path, required=True, help="comparisons to write")
    sys.exit(run_command(main, parser))
