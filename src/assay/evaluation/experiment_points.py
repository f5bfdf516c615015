"""The comparison of the policy `equaxis-v1`: differences of rates, to the letter."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from assay.evaluation.aggregates import Members, quality_aggregates, rounded
from assay.evaluation.groups import by_tag
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.patterns import code_changes
from assay.evaluation.policy import Policy
from assay.evaluation.results import QualityAggregate
from assay.evaluation.table import Bits, Table
from assay.evaluation.verdicts import (
    AreaComparison,
    ArmsComparison,
    CapabilityComparison,
    Comparison,
    Coverage,
    Design,
    FailurePatterns,
    Regression,
)


def targeted(table: Table, hypothesis: ImprovementHypothesis) -> Bits:
    """Return the attempts that a hypothesis is about: by any of its tags and any of its areas."""
    keep = np.ones(len(table), bool)
    if hypothesis.capability_tags:
        found = by_tag(table, hypothesis.capability_tags)
        keep = np.zeros(len(table), bool)
        keep[found.rows] = True
    if hypothesis.task_areas:
        wanted = np.isin(table.names["area"], hypothesis.task_areas)
        keep &= wanted[table.codes["area"]]
    return keep


def compare_points(
    hypothesis: ImprovementHypothesis,
    baseline: Table,
    candidate: Table,
    policy: Policy,
    name: str,
    design: Design,
) -> Comparison:
    """Compare the arms' rates, each over all of its attempts."""
    tables = (baseline, candidate)
    first, second = (table.take(targeted(table, hypothesis)) for table in tables)
    capabilities = tuple(
        CapabilityComparison(
            capability=tag, **dict(_arms(_tagged(baseline, tag), _tagged(candidate, tag), policy))
        )
        for tag in sorted({tag for table in tables for tags in table.tag_names for tag in tags})
    )
    return Comparison(
        name=name,
        hypothesis_id=hypothesis.id,
        phase=hypothesis.phase,
        expected_uplift=hypothesis.expected_uplift,
        target_capabilities=hypothesis.capability_tags,
        target_areas=hypothesis.task_areas,
        policy=policy.label,
        design=design,
        coverage=_coverage(first, second),
        target=_arms(first, second, policy),
        suite=_arms(baseline, candidate, policy),
        by_capability=capabilities,
        failure_patterns=patterns(first, second, policy),
        regressions=_regressions(capabilities, hypothesis, policy),
    )


def _arms(baseline: Table, candidate: Table, policy: Policy) -> ArmsComparison:
    first, second = (quality(table, policy) for table in (baseline, candidate))
    return ArmsComparison(
        baseline=first,
        candidate=second,
        success_rate_uplift=_less(second.success_rate, first.success_rate, policy),
        latency_change_rate=_relative(first.average_latency_ms, second.average_latency_ms),
        token_change_rate=_relative(first.average_total_tokens, second.average_total_tokens),
        cost_change_rate=_relative(first.average_cost_usd, second.average_cost_usd),
        safety_violation_change=_less(
            second.safety_violation_rate, first.safety_violation_rate, policy
        ),
        infrastructure_failure_change=_less(
            second.infrastructure_failure_rate, first.infrastructure_failure_rate, policy
        ),
    )


def quality(table: Table, policy: Policy) -> QualityAggregate:
    """Return the aggregate of task quality over a whole table."""
    return next(quality_aggregates(table, Members.all(table), policy))


def _less(after: float | None, before: float | None, policy: Policy) -> float | None:
    return None if after is None or before is None else rounded(after - before, policy)


def _relative(before: float | None, after: float | None) -> float | None:
    if before is None or after is None:
        return None
    if before == 0:
        return 0.0 if after == 0 else None
    return round((after - before) / before, 4)


def _tagged(table: Table, tag: str) -> Table:
    return table.take(by_tag(table, [tag]).rows)


def _coverage(baseline: Table, candidate: Table) -> Coverage:
    first, second = (
        {table.names["task"][code] for code in np.unique(table.codes["task"])}
        for table in (baseline, candidate)
    )
    return Coverage(
        paired_tasks=len(first & second),
        paired_attempts=0,
        baseline_only=tuple(sorted(first - second)),
        candidate_only=tuple(sorted(second - first)),
        changed_versions=(),
    )


def patterns(baseline: Table, candidate: Table, policy: Policy) -> FailurePatterns:
    """Return how failure codes and areas moved, over the attempts of task quality."""
    areas = sorted({area for table in (baseline, candidate) for area in table.stated("area")})
    return FailurePatterns(
        by_code=code_changes(baseline, candidate),
        by_area=tuple(
            AreaComparison(
                task_area=area,
                **dict(_arms(_in_area(baseline, area), _in_area(candidate, area), policy)),
            )
            for area in areas
        ),
    )


def _in_area(table: Table, area: str) -> Table:
    wanted = np.array([name == area for name in table.names["area"]], bool)
    return table.take(wanted[table.codes["area"]])


def _regressions(
    rows: Iterable[CapabilityComparison], hypothesis: ImprovementHypothesis, policy: Policy
) -> tuple[Regression, ...]:
    return tuple(
        regression(row)
        for row in rows
        if row.capability not in hypothesis.capability_tags
        and row.success_rate_uplift is not None
        and row.success_rate_uplift < -policy.regression_tolerance
    )


def regression(row: CapabilityComparison) -> Regression:
    """Return what a report says of a capability that is worse."""
    return Regression(
        capability=row.capability,
        uplift=row.success_rate_uplift,
        baseline_attempts=row.baseline.attempts,
        candidate_attempts=row.candidate.attempts,
    )
