"""From a baseline's attempts to where it fails."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from assay.core.errors import EvaluationError
from assay.evaluation.aggregates import Members, aggregates, quality_aggregates, rounded
from assay.evaluation.capabilities import capability_matrix, weakest
from assay.evaluation.groups import code_counts
from assay.evaluation.passes import flip_rate, pass_rates
from assay.evaluation.policy import Policy, load_policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.regions import failure_regions
from assay.evaluation.results import Bounds, Diagnosis, Infrastructure
from assay.evaluation.table import Table
from assay.evaluation.tasks import task_table


class Labels(Protocol):
    """What a taxonomy does: tell area, tags and expectation of a record's task."""

    def label(self, record: EvaluationRecord) -> EvaluationRecord:
        """Return the record with what the taxonomy says of its task."""


def diagnose(
    records: Iterable[EvaluationRecord],
    taxonomy: Labels | None = None,
    policy: Policy | str = "statistical",
) -> Diagnosis:
    """Tell where a baseline fails.

    Parameters
    ----------
    records : iterable of EvaluationRecord
        May be a generator: no record is kept.
    taxonomy : Labels, optional
        Labels the records; without it they stand as they are.
    policy : Policy or str
        A policy, or the name of one that comes with Assay.

    Raises
    ------
    EvaluationError
        If there is no record.
    """
    chosen = load_policy(policy) if isinstance(policy, str) else policy
    labelled = records if taxonomy is None else map(taxonomy.label, records)
    return diagnose_table(Table.of(labelled), chosen)


def diagnose_table(table: Table, policy: Policy) -> Diagnosis:
    """Diagnose attempts that are columns already."""
    if not len(table):
        raise EvaluationError("there is no attempt to diagnose.", fix="check the job's path.")
    table = table.under(policy)
    everything = Members.all(table)
    matrix = capability_matrix(table, policy)
    return Diagnosis(
        policy=policy.label,
        variants=table.stated("variant"),
        runner_versions=table.stated("runner"),
        overall=next(aggregates(table, everything, policy)),
        task_quality=next(quality_aggregates(table, everything, policy)),
        infrastructure=_infrastructure(table, policy),
        task_table=task_table(table, policy),
        capability_matrix=matrix,
        weak_capabilities=weakest(matrix),
        failure_regions=failure_regions(table, policy),
        passes=pass_rates(table),
        flip_rate=flip_rate(table),
        sample=table.sample,
    )


def _infrastructure(table: Table, policy: Policy) -> Infrastructure:
    failed, total = table.infrastructure, len(table)
    everything = Members.all(table)
    tasks = np.unique(table.codes["task"][failed])
    known = table.verdict >= 0
    right = int(((table.verdict == 1) & ~failed).sum())
    missing = int((failed | ~known).sum())
    return Infrastructure(
        failures=int(failed.sum()),
        failure_rate=rounded(float(failed.mean()), policy),
        failure_codes=code_counts(table, everything.only(failed), policy)[0],
        affected_tasks=tuple(sorted(table.names["task"][task] for task in tasks)),
        passed=int((table.verdict[failed] == 1).sum()),
        bounds=Bounds(
            low=rounded(right / total, policy),
            high=rounded((right + missing) / total, policy),
            method="attempts without a verdict counted as failures, and as successes",
        ),
    )
