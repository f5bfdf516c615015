"""Say what the policies decide on arms that cannot differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.evaluation.arms import Runs
from assay.evaluation.cycle import policy_of
from assay.evaluation.equal_arms import calibrate
from assay.evaluation.policy import load_policy
from assay.evaluation.steps import Step, plain
from assay.evaluation.write import write_ordered


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Split the baseline into equal arms, for the cycle's policy and for the point rules."""
    step = Step.of(arguments.spec)
    records = list(Runs(step.manifest, arguments.records).variants())
    policies = [policy_of(step.manifest, step.folder), load_policy("equaxis-v1")]
    found = tuple(
        calibrate(records, policy, draws=step.draws, seed=step.seed)
        for policy in {policy.digest: policy for policy in policies}.values()
    )
    write_ordered(arguments.out, plain(found))
    return [arguments.out]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, required=True, help="records of the runs")
    parser.add_argument("--out", type=Path, required=True, help="rates to write")
    sys.exit(run_command(main, parser))
