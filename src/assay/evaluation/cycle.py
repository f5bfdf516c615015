"""One cycle: from runs to a diagnosis, hypotheses, comparisons and decisions.

Each step is a function of what the step before returned, so that a workflow can run them one by
one; `run_cycle` runs them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from assay.core.errors import EvaluationError
from assay.core.files import read_json
from assay.core.validation import first_problem, unknown
from assay.evaluation.arms import Input, read_arms
from assay.evaluation.compare import compare
from assay.evaluation.cycles import CycleChange, compare_cycles
from assay.evaluation.decide import decide, next_focus
from assay.evaluation.diagnosis import diagnose
from assay.evaluation.hypothesis import Focus, ImprovementHypothesis
from assay.evaluation.hypothesize import hypothesize
from assay.evaluation.manifest import CycleManifest, Experiment
from assay.evaluation.policy import Policy, load_policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.results import Diagnosis, Result
from assay.evaluation.verdicts import Comparison, Decision, Design

Records = Sequence[EvaluationRecord]


class CycleReport(Result):
    """Everything that one cycle found; the same inputs give the same report, byte for byte.

    Attributes
    ----------
    policy : dict
        Every value of the policy that decided.
    inputs : tuple of Input
        What was read, with digests of the records.
    experiments, decisions : tuple
        Decisions with the largest cost-benefit score first.
    comparison : CycleChange or None
        With the previous cycle.
    remarks : tuple of str
        What limits the conclusions.
    """

    schema_version: Literal[1] = 1
    cycle_id: str
    policy: dict[str, Any]
    inputs: tuple[Input, ...]
    diagnosis: Diagnosis
    hypotheses: tuple[ImprovementHypothesis, ...]
    experiments: tuple[Comparison, ...]
    decisions: tuple[Decision, ...]
    next_iteration_focus: tuple[Focus, ...]
    comparison: CycleChange | None = None
    remarks: tuple[str, ...] = ()


def run_cycle(manifest: CycleManifest, folder: Path) -> CycleReport:
    """Run a whole cycle.

    Parameters
    ----------
    folder : Path
        What the paths of the manifest are relative to.

    Raises
    ------
    AssayError
        If a run, the taxonomy, the policy or the previous report cannot be used.
    """
    policy = policy_of(manifest, folder)
    inputs, arms = read_arms(manifest, folder)
    diagnosis = diagnose(arms["baseline"], policy=policy)
    hypotheses = hypothesize(diagnosis, policy)
    experiments = compare_all(manifest, arms, hypotheses, policy)
    return conclude(
        manifest,
        inputs=inputs,
        diagnosis=diagnosis,
        hypotheses=hypotheses,
        experiments=experiments,
        policy=policy,
        previous=previous_report(manifest, folder),
    )
