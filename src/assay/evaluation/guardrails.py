"""Limits on side effects, each on the target and on the whole suite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.evaluation.effects import Matched, effect
from assay.evaluation.pairing import Pairs
from assay.evaluation.policy import Metric, Policy
from assay.evaluation.ratios import Ratio, ratio_of_quantiles, ratio_of_totals
from assay.evaluation.results import Bounds
from assay.evaluation.table import Bits, Floats, Ints, Table
from assay.evaluation.verdicts import Effect, Guardrail, Scope, Status

_COLUMNS = {"tokens": "total", "cost": "cost", "latency_p50": "latency", "latency_p95": "latency"}
_SHARES = {"latency_p50": 0.5, "latency_p95": 0.95}


@dataclass(frozen=True)
class Arms:
    """Two arms and their matched attempts."""

    baseline: Table
    candidate: Table
    pairs: Pairs

    def bits(self, column: str, keep: Bits) -> Matched:
        """Return a column of bits of the matched attempts that are kept."""
        first, second = self.pairs.values(column, self.baseline, self.candidate)
        return Matched(self.pairs.task, first, second).where(keep)

    def measured(self, name: str, keep: Bits) -> tuple[Ints, Floats, Floats]:
        """Return task and measure of the kept pairs of which both arms have an attempt."""
        keep = keep & self.pairs.common
        first = self.baseline.measured[name][self.pairs.baseline[keep]]
        second = self.candidate.measured[name][self.pairs.candidate[keep]]
        return self.pairs.task[keep], first, second


def ratio(arms: Arms, metric: str, keep: Bits, level: float) -> Ratio:
    """Return how much more the candidate took of tokens, cost or time."""
    task, first, second = arms.measured(_COLUMNS[metric], keep)
    if metric in _SHARES:
        return ratio_of_quantiles(task, first, second, _SHARES[metric], level)
    return ratio_of_totals(task, first, second, level)


def guardrails(
    arms: Arms, target: Bits, worst: Effect, loss: float | None, policy: Policy
) -> tuple[Guardrail, ...]:
    """Return the policy's guardrails.

    Parameters
    ----------
    target : ndarray of bool, shape (pair,)
    worst : Effect
        On the whole suite, with what is missing counted against the candidate.
    loss : float or None
        The p-value of a loss of the margin there.
    """
    found = [_no_loss(worst, loss, policy)]
    suite = np.ones(target.size, bool)
    scopes: tuple[tuple[Scope, Bits], ...] = (("target", target), ("suite", suite))
    for scope, keep in scopes:
        found += [_guardrail(arms, metric, scope, keep, policy) for metric in policy.guardrails]
    return tuple(found)


def _no_loss(worst: Effect, loss: float | None, policy: Policy) -> Guardrail:
    limit = -policy.regression_tolerance
    interval = worst.interval
    status: Status = "inconclusive"
    if worst.estimate is None:
        status = "not_evaluated"
    elif interval is not None and interval.low is not None and interval.low > limit:
        status = "passed"
    elif interval is not None and interval.high is not None and interval.high < limit:
        status = "failed"
    return Guardrail(
        metric="success",
        scope="suite",
        status=status,
        change=worst.estimate,
        interval=interval,
        limit=limit,
        p_value=loss,
        tasks=worst.tasks,
    )


def _guardrail(arms: Arms, metric: Metric, scope: Scope, keep: Bits, policy: Policy) -> Guardrail:
    if metric == "safety":
        unsafe = arms.bits("unsafe", keep)
        return _rate(metric, scope, unsafe, policy.max_safety_violation_increase, policy)
    if metric == "infrastructure":
        failed = arms.bits("infrastructure", keep & arms.pairs.common)
        return _rate(metric, scope, failed, policy.max_infrastructure_failure_increase, policy)
    return _ratio(metric, scope, ratio(arms, metric, keep, policy.level), policy)


def _ratio(metric: Metric, scope: Scope, found: Ratio, policy: Policy) -> Guardrail:
    limit = {
        "tokens": policy.max_token_increase_rate,
        "cost": policy.max_cost_increase_rate,
    }.get(metric, policy.max_latency_increase_rate)
    status: Status = "inconclusive"
    if found.from_nothing:
        status = "failed"
    elif found.change is None:
        status = "not_evaluated"
    elif found.interval is not None:
        status = _within(found.interval, limit)
    return Guardrail(
        metric=metric,
        scope=scope,
        status=status,
        change=found.change,
        interval=found.interval,
        limit=limit,
        p_value=None,
        tasks=found.tasks,
    )


def _within(interval: Bounds, limit: float) -> Status:
    low, high = interval.low, interval.high
    if high is not None and high <= limit:
        return "passed"
    return "failed" if low is not None and low > limit else "inconclusive"


def _rate(metric: Metric, scope: Scope, bits: Matched, limit: float, policy: Policy) -> Guardrail:
    """Limit the increase of a rate: at 0 none may be demonstrated, above its bound decides.

    Zero tolerance for counts would stop a third of equal arms.
    """
    found = effect(bits, policy.level)
    more = found.better_p
    status: Status = "passed"
    if found.estimate is None:
        status = "not_evaluated"
    elif limit > 0:
        status = "inconclusive" if found.interval is None else _within(found.interval, limit)
    elif more is None:
        status = "inconclusive"
    elif more <= policy.alpha_superiority:
        status = "failed"
    return Guardrail(
        metric=metric,
        scope=scope,
        status=status,
        change=found.estimate,
        interval=found.interval,
        limit=limit,
        p_value=more,
        tasks=found.tasks,
    )
