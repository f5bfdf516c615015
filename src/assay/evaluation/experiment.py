"""A candidate against a baseline, for one hypothesis."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.errors import EvaluationError
from assay.evaluation.experiment_points import compare_points
from assay.evaluation.experiment_tests import compare_tests
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import Policy, load_policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.table import Table, same_attempts
from assay.evaluation.verdicts import Comparison, Design


def compare(
    hypothesis: ImprovementHypothesis,
    baseline: Iterable[EvaluationRecord],
    candidate: Iterable[EvaluationRecord],
    policy: Policy | str = "statistical",
    *,
    name: str = "candidate",
    design: Design | None = None,
) -> Comparison:
    """Compare two arms on the tasks they share.

    Parameters
    ----------
    hypothesis : ImprovementHypothesis
        Its tags and areas are the target; without both the target is the whole suite.
    baseline, candidate : iterable of EvaluationRecord
        Generators will do: no record is kept.
    policy : Policy or str
    name : str
        Of the candidate.
    design : Design, optional
        How the arms were run; what the records tell of it is filled in.

    Raises
    ------
    EvaluationError
        If an arm is empty, the arms share no task, or a task was changed between them.
    """
    chosen = load_policy(policy) if isinstance(policy, str) else policy
    before, after = Table.of(baseline), Table.of(candidate)
    for table, arm in ((before, "the baseline"), (after, name)):
        if not len(table):
            raise EvaluationError(f"{arm} has no attempt.", fix="check the job's path.")
    return compare_tables(hypothesis, before, after, chosen, name=name, design=design)


def compare_tables(
    hypothesis: ImprovementHypothesis,
    baseline: Table,
    candidate: Table,
    policy: Policy,
    *,
    name: str = "candidate",
    design: Design | None = None,
) -> Comparison:
    """Compare arms that are columns already."""
    how = _design(hypothesis, baseline, candidate, design or Design())
    run = compare_points if policy.points else compare_tests
    return run(hypothesis, baseline.under(policy), candidate.under(policy), policy, name, how)


def _design(
    hypothesis: ImprovementHypothesis, baseline: Table, candidate: Table, design: Design
) -> Design:
    first, second = baseline.stated("runner"), candidate.stated("runner")
    known = set(first) | set(second)
    return design.model_copy(
        update={
            "baseline_versions": first,
            "candidate_versions": second,
            "version_drift": len(known) > 1 if first and second else None,
            "baseline_reused": same_attempts(hypothesis.selected_on, baseline.sample),
        }
    )
