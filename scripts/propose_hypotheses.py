"""Propose what might mend the weak capabilities."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.evaluation.cycle import policy_of
from assay.evaluation.hypotheses import hypothesize
from assay.evaluation.results import Diagnosis
from assay.evaluation.steps import Step, plain, read_result
from assay.evaluation.write import write_ordered


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Turn the diagnosis into hypotheses."""
    step = Step.of(arguments.spec)
    policy = policy_of(step.manifest, step.folder)
    diagnosis = read_result(arguments.diagnosis, Diagnosis)
    write_ordered(arguments.out, plain(tuple(hypothesize(diagnosis, policy))))
    return [arguments.out]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--diagnosis", type=Path, required=True, help="diagnosis of the baseline")
    parser.add_argument("--out", type=Path, required=True, help="hypotheses to write")
    sys.exit(run_command(main, parser))
