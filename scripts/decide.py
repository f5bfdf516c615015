"""Decide on every candidate of a cycle and write its report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.evaluation.arms import Input
from assay.evaluation.cycle import conclude, policy_of, previous_report
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.results import Diagnosis
from assay.evaluation.steps import Step, read_result
from assay.evaluation.verdicts import Comparison
from assay.evaluation.write import write_report


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Put what the steps before found together and decide."""
    step, folder = Step.of(arguments.spec), arguments.results
    report = conclude(
        step.manifest,
        inputs=read_result(folder / "inputs.json", tuple[Input, ...]),
        diagnosis=read_result(folder / "diagnosis.json", Diagnosis),
        hypotheses=read_result(folder / "proposed.json", tuple[ImprovementHypothesis, ...]),
        experiments=read_result(folder / "comparisons.json", tuple[Comparison, ...]),
        policy=policy_of(step.manifest, step.folder),
        previous=previous_report(step.manifest, step.folder),
    )
    files, _ = write_report(report, arguments.out)
    return files


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--results", type=Path, required=True, help="folder of the results of the steps before"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the report")
    sys.exit(run_command(main, parser))
