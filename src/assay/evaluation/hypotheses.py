"""From weak capabilities to changes worth trying."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from assay.evaluation.aggregates import rounded
from assay.evaluation.hypothesis import Evidence, ImprovementHypothesis, Layer
from assay.evaluation.layers import CHANGES, PHASES, VALIDATIONS, leading_layer, present_layer
from assay.evaluation.policy import Policy, load_policy
from assay.evaluation.results import CapabilityRow, Diagnosis
from assay.evaluation.sample_size import required_sample

#: What every experiment watches besides its target.
GUARDRAILS = (
    "averageLatencyMs",
    "averageTotalTokens",
    "averageCostUsd",
    "safetyViolationRate",
    "unrelatedCapabilityRegression",
)
#: Candidates where nothing is weak.
_FALLBACK = 3


def hypothesize(
    diagnosis: Diagnosis, policy: Policy | str = "statistical"
) -> tuple[ImprovementHypothesis, ...]:
    """Propose one change for each weak capability.

    Where none is weak, for the three with the lowest success rates that have failures.

    Parameters
    ----------
    diagnosis : Diagnosis
    policy : Policy or str
        As for the diagnosis.

    Returns
    -------
    tuple of ImprovementHypothesis
        The largest gap first.
    """
    chosen = load_policy(policy) if isinstance(policy, str) else policy
    rows = diagnosis.weak_capabilities or _lowest(diagnosis.capability_matrix)
    return tuple(_hypothesis(k, row, diagnosis, chosen) for k, row in enumerate(rows, 1))


def _lowest(matrix: Sequence[CapabilityRow]) -> list[CapabilityRow]:
    failing = [row for row in matrix if row.failures]
    return sorted(failing, key=lambda row: (row.success_rate or 0.0, -row.failures))[:_FALLBACK]


def _hypothesis(
    number: int, row: CapabilityRow, diagnosis: Diagnosis, policy: Policy
) -> ImprovementHypothesis:
    codes = _codes(row, diagnosis) if policy.points else row.failure_codes
    layer = present_layer(codes) if policy.points else leading_layer(codes)
    half = max(0.0, row.gap_to_expected or 0.0) / 2
    uplift = min(policy.target_uplift_ceiling, max(policy.target_uplift_floor, half))
    rate = row.success_rate or 0.0
    return ImprovementHypothesis(
        id=_identifier(number, layer, row.capability, policy),
        layer=layer,
        phase=PHASES[layer],
        capability_tags=(row.capability,),
        task_areas=tuple(sorted(row.areas)),
        evidence=Evidence(
            attempts=row.attempts,
            tasks=row.tasks,
            current_success_rate=row.success_rate,
            gap_to_expected=row.gap_to_expected,
            failure_codes=dict(codes),
            adjusted_p_value=row.test and row.test.adjusted_p_value,
        ),
        proposed_change=CHANGES[layer],
        expected_uplift=rounded(uplift, policy),
        target_success_rate=rounded(min(1.0, rate + uplift), policy),
        validation_method=VALIDATIONS[layer],
        guardrails=GUARDRAILS,
        required=None if policy.points else required_sample(uplift, diagnosis.flip_rate, policy),
        selected_on=diagnosis.sample,
    )


def _codes(row: CapabilityRow, diagnosis: Diagnosis) -> Mapping[str, int]:
    """Count the codes of every task with the tag, whatever they are due to: the point rules."""
    codes: Counter[str] = Counter()
    for task in diagnosis.task_table:
        if row.capability in task.capability_tags:
            codes.update(task.failure_codes)
    return codes


def _identifier(number: int, layer: Layer, capability: str, policy: Policy) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", capability.lower()).strip("-")
    if policy.points:
        return f"H{number}-{layer}-{name}"
    if name != capability:  # "C" and "C++" are two capabilities
        name = f"{name}-{hashlib.sha256(capability.encode()).hexdigest()[:6]}".lstrip("-")
    return f"{layer}-{name}"
