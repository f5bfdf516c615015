"""How many tasks an undecided comparison needs."""

from __future__ import annotations

from assay.evaluation.hypothesis import ImprovementHypothesis, RequiredSample
from assay.evaluation.hypothesize import required_sample
from assay.evaluation.policy import Policy
from assay.evaluation.verdicts import ArmsComparison, Effect, Guardrail
from assay.stats import needed_n_equivalence


def required_samples(
    hypothesis: ImprovementHypothesis,
    target: ArmsComparison,
    suite: ArmsComparison,
    limits: tuple[Guardrail, ...],
    policy: Policy,
) -> tuple[RequiredSample, ...]:
    """Return the tasks that the target needs and, where a loss is open, the suite."""
    wanted = hypothesis.expected_uplift or policy.target_uplift_floor
    found = [required_sample(wanted, None, policy, _discordance(target.uplift))]
    if any(limit.metric == "success" and limit.status == "inconclusive" for limit in limits):
        apart = _discordance(suite.uplift) or policy.regression_tolerance
        margin = max(policy.regression_tolerance, 1e-3)
        found.append(
            RequiredSample(
                tasks=needed_n_equivalence(
                    margin=margin,
                    discordance=max(apart, margin),
                    alpha=(1 - policy.level) / 2,
                    power=2 * policy.power - 1,
                ),
                effect=-margin,
                discordance=apart,
                alpha=(1 - policy.level) / 2,
                power=policy.power,
                method="whole suite: no loss above the margin, normal approximation",
            )
        )
    return tuple(found)


def _discordance(found: Effect | None) -> float | None:
    """Return the share of attempts on which the arms differ; None where that is none."""
    if found is None or not found.attempts or not found.improved + found.worsened:
        return None
    return (found.improved + found.worsened) / found.attempts
