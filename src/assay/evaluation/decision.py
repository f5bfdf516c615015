"""What to do with a candidate, by rule: no model and no person has a say in it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.evaluation.family import Corrected, corrected
from assay.evaluation.hypothesis import Focus
from assay.evaluation.policy import Policy, load_policy
from assay.evaluation.results import Diagnosis
from assay.evaluation.verdicts import Comparison, Decision, Verdict

#: Regions and codes that the next cycle is pointed at.
_REGIONS = _CODES = 3


def decide(comparison: Comparison, policy: Policy | str = "statistical") -> Decision:
    """Decide on a candidate.

    Parameters
    ----------
    comparison : Comparison
    policy : Policy or str
        The one of the comparison.

    Returns
    -------
    Decision
        ``deploy``: better on the target, whatever became of missing attempts; no loss on the
        suite above the margin; every guardrail shown to hold; no capability harmed. ``scoped``:
        better on the target in the same sense, but not all of that. ``reject``: harm to the
        target, the suite or its safety is demonstrated, or the uplift is below the floor. Else
        ``insufficient_data``.
    """
    return decide_all((comparison,), policy)[0]


def decide_all(
    comparisons: Sequence[Comparison], policy: Policy | str = "statistical"
) -> tuple[Decision, ...]:
    """Decide on every candidate of a cycle, in their order, as `decide` does on one.

    What they show is corrected over all of them: with ten candidates that change nothing, one
    would otherwise be called better in a fifth of all cycles.
    """
    chosen = load_policy(policy) if isinstance(policy, str) else policy
    if chosen.points:
        return tuple(_by_points(found, chosen) for found in comparisons)
    shown = corrected(comparisons, chosen)
    return tuple(
        _by_tests(found, chosen, one) for found, one in zip(comparisons, shown, strict=True)
    )


def cost_benefit(comparison: Comparison, digits: int | None = None) -> float | None:
    """Return the uplift over 1 plus the rates by which latency, tokens and cost grow."""
    target = comparison.target
    if target.success_rate_uplift is None:
        return None
    rates = (target.latency_change_rate, target.token_change_rate, target.cost_change_rate)
    score = max(0.0, target.success_rate_uplift) / (1 + sum(max(0.0, rate or 0) for rate in rates))
    return score if digits is None else round(score, digits)


def _by_points(comparison: Comparison, policy: Policy) -> Decision:
    target = comparison.target
    least = min(target.baseline.attempts, target.candidate.attempts)
    if least < policy.experiment_minimum_samples:
        return Decision(
            name=comparison.name,
            hypothesis_id=comparison.hypothesis_id,
            policy=policy.label,
            decision="insufficient_data",
            reason=f"an arm has {least} attempts at the target, "
            f"{policy.experiment_minimum_samples} are needed.",
        )
    uplift = target.success_rate_uplift or 0.0
    expected = comparison.expected_uplift
    expected = policy.target_uplift_floor if expected is None else expected
    constraints = {
        "hasRegression": bool(comparison.regressions),
        "latencyExpensive": _above(target.latency_change_rate, policy.max_latency_increase_rate),
        "tokenExpensive": _above(target.token_change_rate, policy.max_token_increase_rate),
        "costExpensive": _above(target.cost_change_rate, policy.max_cost_increase_rate),
        "safetyRegression": _above(
            target.safety_violation_change, policy.max_safety_violation_increase
        ),
        "infrastructureRegression": _above(
            target.infrastructure_failure_change, policy.max_infrastructure_failure_increase
        ),
    }
    meets = uplift >= expected
    decision: Verdict = "reject"
    reason = "the uplift is below the floor."
    if meets and not any(constraints.values()):
        decision, reason = "deploy", "the uplift is reached and no limit is broken."
    elif uplift >= policy.target_uplift_floor:
        decision, reason = "scoped", "the uplift is worth something, but a limit is broken."
    return Decision(
        name=comparison.name,
        hypothesis_id=comparison.hypothesis_id,
        policy=policy.label,
        decision=decision,
        meets_target=meets,
        expected_uplift=expected,
        observed_uplift=target.success_rate_uplift,
        cost_benefit_score=cost_benefit(comparison, 4),
        constraints=constraints,
        reason=reason,
    )


def _above(change: float | None, limit: float) -> bool:
    return change is not None and change > limit


def _by_tests(comparison: Comparison, policy: Policy, shown: Corrected) -> Decision:
    target = comparison.target
    constraints = _constraints(comparison, policy, shown)
    unmeasured = tuple(
        f"{limit.metric}@{limit.scope}"
        for limit in comparison.guardrails
        if limit.status == "not_evaluated"
    )
    decision, reason = _verdict(comparison, policy, shown, constraints)
    expected, observed = comparison.expected_uplift, target.success_rate_uplift
    return Decision(
        name=comparison.name,
        hypothesis_id=comparison.hypothesis_id,
        policy=policy.label,
        decision=decision,
        meets_target=None if expected is None or observed is None else observed >= expected,
        expected_uplift=expected,
        observed_uplift=observed,
        better_p=shown.better_p,
        cost_benefit_score=cost_benefit(comparison),
        constraints=constraints,
        not_evaluated=unmeasured,
        reason=reason,
        required=comparison.required if decision in ("insufficient_data", "scoped") else (),
    )


def _constraints(comparison: Comparison, policy: Policy, shown: Corrected) -> dict[str, bool]:
    """Return what keeps a candidate that is better on the target from being deployed."""
    alpha = policy.alpha_superiority
    found = {
        "betterOnlyWithoutMissing": not _at_most(shown.certain_p, alpha),
        "harmedElsewhere": bool(comparison.regressions),
    }
    for limit in comparison.guardrails:
        allowed = limit.status == "not_evaluated" and policy.unmeasured == "allow"
        found[f"{limit.metric}@{limit.scope}"] = limit.status != "passed" and not allowed
    if shown.candidates > 1 and policy.candidates == "together":
        found["success@suite"] |= not _at_most(shown.no_loss_p, alpha)
    return found


def _at_most(p_value: float | None, alpha: float) -> bool:
    return p_value is not None and p_value <= alpha


def _verdict(
    comparison: Comparison, policy: Policy, shown: Corrected, constraints: dict[str, bool]
) -> tuple[Verdict, str]:
    found = comparison.target.uplift
    if harm := _harm(comparison, policy):
        return "reject", f"harm is demonstrated: {harm}."
    if found is None or found.attempts < policy.experiment_minimum_samples:
        n = 0 if found is None else found.attempts
        return "insufficient_data", (
            f"{n} matched attempts at the target have a verdict in both arms, "
            f"{policy.experiment_minimum_samples} are needed."
        )
    if found.better_p is None:
        return "insufficient_data", f"{found.tasks} tasks are too few to decide anything."
    if _at_most(shown.better_p, policy.alpha_superiority):
        return _of_better(comparison, policy, constraints)
    high = None if found.interval is None else found.interval.high
    if high is not None and high < policy.target_uplift_floor:
        return "reject", (
            f"the uplift is at most {100 * high:.1f} points, below the floor of "
            f"{100 * policy.target_uplift_floor:.1f}."
        )
    if _at_most(found.better_p, policy.alpha_superiority):
        return "insufficient_data", (
            f"better by itself, but one of {shown.candidates} candidates would look so by chance."
        )
    return "insufficient_data", (
        f"the uplift could be nothing or {_points(high)}: the data do not tell."
    )


def _points(value: float | None) -> str:
    return "anything" if value is None else f"{100 * value:.1f} points"


def _of_better(
    comparison: Comparison, policy: Policy, constraints: dict[str, bool]
) -> tuple[Verdict, str]:
    if comparison.design.baseline_reused and policy.baseline_reuse == "block":
        return "insufficient_data", (
            "the baseline is the one that suggested the hypothesis, and looks worse than it is: "
            "run it again."
        )
    if constraints["betterOnlyWithoutMissing"]:
        missing = comparison.tipping_point.missing if comparison.tipping_point else 0
        return "insufficient_data", (
            f"better only if the {missing} attempts without a verdict do not count against it."
        )
    open_ = [name for name, stands in constraints.items() if stands]
    if not open_:
        return "deploy", "better on the target, no loss on the suite, every guardrail holds."
    return "scoped", f"better on the target, but not shown or not met: {', '.join(open_)}."


def _harm(comparison: Comparison, policy: Policy) -> str:
    """Return what is demonstrably worse: the suite, its safety, or a capability of the target."""
    alpha = policy.alpha_harm
    harmed = [
        row.capability
        for row in comparison.by_capability
        if row.harmed and row.capability in comparison.target_capabilities
    ]
    if comparison.suite_harm_p is not None and comparison.suite_harm_p <= alpha:
        harmed.append("the whole suite")
    if comparison.safety_harm_p is not None and comparison.safety_harm_p <= alpha:
        harmed.append("safety")
    return ", ".join(harmed)


def rank(decisions: tuple[Decision, ...]) -> tuple[Decision, ...]:
    """Return decisions by cost-benefit score, the largest first and unknown last, then name."""

    def key(decision: Decision) -> tuple[bool, float, str]:
        score = decision.cost_benefit_score
        return score is None, -(score or 0.0), decision.name

    return tuple(sorted(decisions, key=key))


def next_focus(diagnosis: Diagnosis) -> tuple[Focus, ...]:
    """Return the regions that the next cycle looks at: the first with the most failures."""
    return tuple(
        Focus(
            task_area=region.task_area,
            failure_share=region.failure_share,
            leading_failure_codes=tuple(region.failure_codes)[:_CODES],
        )
        for region in diagnosis.failure_regions[:_REGIONS]
    )
