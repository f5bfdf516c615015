"""What the evaluation page shows of each cycle: sentences, and tables of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.evaluation.cycle import CycleReport
from assay.evaluation.equal_arms import Calibration
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.results import CapabilityRow, QualityAggregate, TaskRow
from assay.evaluation.verdicts import Comparison, Decision
from assay.evaluation.wording import (
    NONE,
    amount,
    codes,
    interval,
    p_value,
    points,
    share,
)
from assay.report.evaluation_experiments import DECISIONS, cell, experiment, target

#: Decisions that are told in a sentence; all of them are in a table.
_TOLD = 3
#: Numbers of attempts of which pass@k is shown.
_PASSES = 4


def view(report: CycleReport, *, rows: int, brief: bool) -> dict[str, Any]:
    """Return everything that the page shows of one cycle.

    Parameters
    ----------
    rows : int
        Most capabilities and tasks, those with the largest gaps.
    brief : bool
        Whether an experiment's capabilities are shown only where they are harmed.
    """
    diagnosis = report.diagnosis
    return {
        "id": report.cycle_id,
        "report": report,
        # A number and its unit stay on one line.
        "sentences": [one.replace(" %", "\u00a0%") for one in _sentences(report)],
        "figures": list(_figures(report)),
        "capabilities": [
            _capability(row) for row in sorted(diagnosis.capability_matrix, key=_gap)[:rows]
        ],
        "tasks": [_task(row) for row in diagnosis.task_table[:rows]],
        "hypotheses": [_hypothesis(one) for one in report.hypotheses],
        "decisions": [_decided(report, one) for one in report.decisions],
        "experiments": [
            experiment(one, _decision(report, one), brief=brief) for one in report.experiments
        ],
        "changes": list(_changes(report)),
    }


def _decision(report: CycleReport, found: Comparison) -> Decision | None:
    return next((one for one in report.decisions if one.name == found.name), None)


def _experiment_of(report: CycleReport, decision: Decision) -> Comparison:
    return next(found for found in report.experiments if found.name == decision.name)


def _decided(report: CycleReport, one: Decision) -> dict[str, Any]:
    arms = _experiment_of(report, one).target
    needed = [sample.tasks for sample in one.required if sample.tasks is not None]
    return {
        "name": one.name,
        "decision": one.decision,
        "word": DECISIONS[one.decision],
        "uplift": cell(points(one.observed_uplift), one.observed_uplift),
        "interval": interval(arms.uplift.interval if arms.uplift else None, difference=True),
        "score": cell(amount(one.cost_benefit_score, decimals=3), one.cost_benefit_score),
        "needed": cell(amount(max(needed)) if needed else NONE, max(needed, default=None)),
        "reason": _upper(one.reason),
    }


def _sentences(report: CycleReport) -> Iterator[str]:
    quality = report.diagnosis.task_quality
    decided = sorted(report.decisions, key=lambda one: list(DECISIONS).index(one.decision))
    for one in decided[:_TOLD]:
        found = _experiment_of(report, one)
        yield f"{one.name}: {DECISIONS[one.decision]}. {_gain(found)}. {_upper(one.reason)}"
    yield (
        f"The baseline succeeds in {share(quality.success_rate)} of {quality.attempts} attempts at "
        f"{quality.tasks} tasks (95 % interval {interval(quality.success_interval)})."
    )
    yield _weak(report)


def _gain(found: Comparison) -> str:
    arms = found.target
    text = (
        f"Success on {target(found)} {share(arms.baseline.success_rate)} → "
        f"{share(arms.candidate.success_rate)}"
    )
    if arms.uplift is None or arms.uplift.interval is None:
        return text
    return f"{text}, {interval(arms.uplift.interval, difference=True)} points"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _weak(report: CycleReport) -> str:
    rows = report.diagnosis.weak_capabilities
    if not rows:
        tested = len(report.diagnosis.capability_matrix)
        return f"No capability is shown to be below its expectation ({tested} looked at)."
    named = [
        f"{row.capability} ({share(row.success_rate)} where {share(row.expected_success_rate)} is "
        "expected)"
        for row in rows[:4]
    ]
    more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
    return f"Below expectation: {', '.join(named)}{more}."


def _figures(report: CycleReport) -> Iterator[tuple[str, str]]:
    whole, around = report.diagnosis.overall, report.diagnosis.infrastructure
    yield "Attempts, infrastructure failures included", amount(whole.attempts)
    yield "Observed success", f"{share(whole.success_rate)} ({interval(whole.success_interval)})"
    yield "Attempts without a verdict", amount(whole.unjudged)
    yield "Infrastructure failures", f"{around.failures} ({codes(around.failure_codes)})"
    yield "Success if those had all failed, all succeeded", interval(around.bounds)
    yield (
        "Latency: mean, median, 95th percentile (ms)",
        " / ".join(
            amount(value)
            for value in (
                whole.average_latency_ms,
                whole.median_latency_ms,
                whole.p95_latency_ms,
            )
        ),
    )
    yield (
        "Tokens an attempt: in (cached), out, total",
        f"{amount(whole.average_input_tokens)} ({amount(whole.average_cached_tokens)}) / "
        f"{amount(whole.average_output_tokens)} / {amount(whole.average_total_tokens)}",
    )
    yield "Cost an attempt (USD)", amount(whole.average_cost_usd, decimals=4)
    yield (
        "Safety violations",
        f"{whole.safety_violations} of {whole.safety_evaluated} evaluated attempts"
        if whole.safety_evaluated
        else NONE,
    )
    for one in report.diagnosis.passes[:_PASSES]:
        yield (
            f"pass@{one.k}, pass^{one.k} ({one.tasks} tasks)",
            f"{share(one.pass_at_k)} / {share(one.pass_hat_k)}",
        )
    if report.diagnosis.flip_rate is not None:
        yield (
            "Two attempts at one task differ in their verdict",
            share(report.diagnosis.flip_rate),
        )


def _rates(row: QualityAggregate) -> dict[str, Any]:
    return {
        "attempts": cell(amount(row.attempts), row.attempts),
        "success": cell(share(row.success_rate), row.success_rate),
        "interval": interval(row.success_interval),
    }


def _gap(row: CapabilityRow) -> tuple[bool, float, str]:
    """Order the capabilities: weak ones first, then by gap."""
    return not row.weak, -(row.gap_to_expected or 0.0), row.capability


def _capability(row: CapabilityRow) -> dict[str, Any]:
    return {
        **_rates(row),
        "name": row.capability,
        "weak": row.weak,
        "expected": cell(share(row.expected_success_rate), row.expected_success_rate),
        "gap": cell(points(row.gap_to_expected), row.gap_to_expected),
        "p": p_value(row.test.adjusted_p_value if row.test else None),
        "codes": codes(row.failure_codes),
    }


def _task(row: TaskRow) -> dict[str, Any]:
    return {
        **_rates(row),
        "name": row.task_id,
        "area": row.task_area,
        "tags": _first(row.capability_tags),
        "gap": cell(points(row.gap_to_expected), row.gap_to_expected),
        "codes": codes(row.failure_codes),
    }


def _first(names: Sequence[str], *, most: int = 4) -> str:
    """Return the first names; how a question was asked can be two dozen tags."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _hypothesis(one: ImprovementHypothesis) -> dict[str, Any]:
    return {
        "id": one.id,
        "layer": f"{one.phase}, {one.layer}",
        "tags": ", ".join(one.capability_tags) or "whole suite",
        "change": one.proposed_change,
        "uplift": cell(points(one.expected_uplift), one.expected_uplift),
        "needed": cell(amount(one.required.tasks), one.required.tasks)
        if one.required
        else cell(amount(None), None),
        "codes": codes(one.evidence.failure_codes) if one.evidence else "",
    }


def _changes(report: CycleReport) -> Iterator[dict[str, Any]]:
    if report.comparison is None:
        return
    for one in report.comparison.codes:
        yield {
            "code": one.failure_code,
            "before": one.baseline_count,
            "now": one.candidate_count,
            "change": f"{one.count_delta:+d}",
        }


def calibration_row(found: Calibration) -> dict[str, Any]:
    """Return one row of the table of equal arms."""
    counts = found.decisions
    return {
        "policy": found.policy,
        "how": found.how,
        "draws": found.draws,
        "deploy": share(found.deploy_rate),
        "deploy_interval": interval(found.deploy_interval),
        "regression": share(found.regression_rate),
        "regression_interval": interval(found.regression_interval),
        **{
            name.split("_")[0]: share(counts.get(name, 0) / found.draws)
            for name in ("scoped", "reject", "insufficient_data")
        },
    }
