"""What the evaluation page shows of each experiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.evaluation.verdicts import ArmsComparison, Comparison, Decision, Guardrail
from assay.evaluation.wording import RELATIVE, conduct, growth, interval, p_value, points, share
from assay.report.views import Cell

#: Decisions as the page words them, the most welcome first.
DECISIONS = {
    "deploy": "deploy",
    "scoped": "deploy in its scope only",
    "reject": "reject",
    "insufficient_data": "not enough data",
}


def cell(text: str, key: float | None) -> Cell:
    """Return a cell; what is undefined sorts last."""
    return Cell(text, -1e9 if key is None else key)


def target(found: Comparison) -> str:
    """Return what a comparison aims at."""
    names = [*found.target_capabilities, *found.target_areas]
    return ", ".join(names) or "the whole suite"


def experiment(found: Comparison, decision: Decision | None, *, brief: bool) -> dict[str, Any]:
    """Return everything that the page shows of one experiment."""
    coverage = found.coverage
    return {
        "name": found.name,
        "hypothesis": found.hypothesis_id,
        "target": target(found),
        "decision": decision,
        "word": DECISIONS[decision.decision] if decision else "",
        "coverage": (
            f"{coverage.paired_tasks} tasks, {coverage.paired_attempts} matched attempts; "
            f"{len(coverage.baseline_only)} tasks in the baseline alone, "
            f"{len(coverage.candidate_only)} in the candidate alone, "
            f"{len(coverage.changed_versions)} changed. {conduct(found)}"
        ),
        "arms": list(_scopes(found, brief=brief)),
        "guardrails": [_guardrail(one) for one in found.guardrails],
        "codes": found.failure_patterns.by_code,
    }


def _scopes(found: Comparison, *, brief: bool) -> Iterator[dict[str, Any]]:
    if found.target_capabilities or found.target_areas:
        yield _arms("target", found.target)
    yield _arms("whole suite", found.suite)
    for one in found.by_capability:
        if one.harmed or not brief:
            yield _arms(one.capability, one, harmed=one.harmed)


def _guardrail(one: Guardrail) -> dict[str, Any]:
    write = growth if one.metric in RELATIVE else points
    return {
        "metric": one.metric.replace("_", " "),
        "scope": one.scope,
        "status": one.status.replace("_", " "),
        "unit": "%" if one.metric in RELATIVE else "points",
        "change": write(one.change).removesuffix(" %"),
        "interval": interval(one.interval, difference=True),
        "limit": write(one.limit).removesuffix(" %"),
    }


def _arms(name: str, arms: ArmsComparison, *, harmed: bool = False) -> dict[str, Any]:
    effect = arms.uplift
    return {
        "name": name,
        "harmed": harmed,
        "baseline": share(arms.baseline.success_rate),
        "candidate": share(arms.candidate.success_rate),
        "uplift": cell(points(arms.success_rate_uplift), arms.success_rate_uplift),
        "interval": interval(effect.interval if effect else None, difference=True),
        "p": p_value(effect.better_p if effect else None),
        "worse": p_value(effect.worse_p if effect else None),
        "tokens": growth(arms.token_change_rate),
        "latency": growth(arms.latency_change_rate),
        "cost": growth(arms.cost_change_rate),
    }
