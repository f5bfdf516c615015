"""Gates of `assay compare`: what must hold, or the command leaves with status 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.evaluation.results import Bounds
from assay.evaluation.verdicts import Comparison


@dataclass(frozen=True)
class Limits:
    """What the command line demands; None demands nothing.

    Attributes
    ----------
    require_complete : bool
        Every task in both arms, with a verdict for every attempt.
    min_success, min_gain : float or None
        Shares: of the candidate's success, of candidate less baseline.
    max_latency, max_tokens, max_cost : float or None
        Relative increase.
    max_safety : float or None
        Increase of the share of attempts that violate safety.
    confident : bool
        The unfavourable end of the 95 % interval must hold, not the estimate alone.
    """

    require_complete: bool = False
    min_success: float | None = None
    min_gain: float | None = None
    max_latency: float | None = None
    max_tokens: float | None = None
    max_cost: float | None = None
    max_safety: float | None = None
    confident: bool = False


@dataclass(frozen=True)
class Gate:
    """One demand and what was found; `value` None was not measured, which fails."""

    name: str
    value: float | None
    limit: float
    passed: bool


def gates(found: Comparison, limits: Limits) -> Iterator[Gate]:
    """Yield every gate that was asked for."""
    if limits.require_complete:
        missing = _missing(found)
        yield Gate("complete", float(missing), 0, missing == 0)
    suite, sure = found.suite, limits.confident
    candidate = suite.candidate
    uplift = suite.uplift.interval if suite.uplift else None
    least = (
        ("success", candidate.success_rate, candidate.success_interval, limits.min_success),
        ("gain", suite.success_rate_uplift, uplift, limits.min_gain),
    )
    for name, value, bounds, limit in least:
        if limit is not None:
            shown = _end(bounds, low=True) if sure else value
            yield Gate(name, shown, limit, shown is not None and shown >= limit)
    most = (
        ("latency", suite.latency_change_rate, "latency_p50", limits.max_latency),
        ("tokens", suite.token_change_rate, "tokens", limits.max_tokens),
        ("cost", suite.cost_change_rate, "cost", limits.max_cost),
        ("safety", suite.safety_violation_change, "safety", limits.max_safety),
    )
    for name, value, metric, limit in most:
        if limit is not None:
            shown = _end(_guardrail(found, metric), low=False) if sure else value
            yield Gate(name, shown, limit, shown is not None and shown <= limit)


def _missing(found: Comparison) -> int:
    coverage, suite = found.coverage, found.suite
    tasks = (coverage.baseline_only, coverage.candidate_only, coverage.changed_versions)
    arms = (suite.baseline, suite.candidate)
    lost = sum(arm.unjudged + arm.excluded_infrastructure_failures for arm in arms)
    return sum(map(len, tasks)) + lost


def _guardrail(found: Comparison, metric: str) -> Bounds | None:
    suite = (one for one in found.guardrails if one.scope == "suite" and one.metric == metric)
    return next((one.interval for one in suite), None)


def _end(bounds: Bounds | None, *, low: bool) -> float | None:
    if bounds is None:
        return None
    return bounds.low if low else bounds.high
