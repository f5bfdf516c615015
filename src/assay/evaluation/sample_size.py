"""How many tasks a comparison needs."""

from __future__ import annotations

from assay.evaluation.hypothesis import ImprovementHypothesis, RequiredSample
from assay.evaluation.policy import Policy
from assay.evaluation.verdicts import ArmsComparison, Effect, Guardrail
from assay.stats import needed_n, needed_n_equivalence

#: Chance that two attempts at a task differ, where no task was repeated.
_FLIPS = 0.1


def required_sample(
    effect: float, flip_rate: float | None, policy: Policy, discordance: float | None = None
) -> RequiredSample:
    """Return the tasks at which exact McNemar finds an uplift, one attempt a task.

    Parameters
    ----------
    effect : float
        Uplift in the success rate.
    flip_rate : float or None
        Chance that two attempts of one arm at a task differ: both arms are taken to differ by
        chance as often as that, beside the uplift. None: 10 %.
    discordance : float, optional
        Share of tasks on which the arms differ, where it was observed.
    """
    chance = _FLIPS if flip_rate is None else flip_rate
    apart = max(effect, min(1.0, effect + chance) if discordance is None else discordance)
    found = needed_n(
        effect=effect,
        discordance=apart,
        alpha=2 * policy.alpha_superiority,
        power=policy.power,
    )
    return RequiredSample(
        tasks=found.n,
        effect=effect,
        discordance=apart,
        alpha=policy.alpha_superiority,
        power=policy.power,
        method="exact McNemar, one attempt a task",
    )


def required_samples(
    hypothesis: ImprovementHypothesis,
    target: ArmsComparison,
    suite: ArmsComparison,
    limits: tuple[Guardrail, ...],
    policy: Policy,
) -> tuple[RequiredSample, ...]:
    """Return the tasks that the target needs and, where a loss is open, the suite.

    Parameters
    ----------
    target, suite : ArmsComparison
    limits : tuple of Guardrail
        Of which that of the suite's success says whether a loss is open.
    """
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
