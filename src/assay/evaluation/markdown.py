"""A cycle's report as Markdown; a task's name can neither break a table nor become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.evaluation.cycle import CycleReport
from assay.evaluation.results import Diagnosis
from assay.evaluation.verdicts import Comparison, Guardrail
from assay.evaluation.wording import (
    RELATIVE,
    amount,
    codes,
    conduct,
    growth,
    interval,
    p_value,
    points,
    share,
)

_SPECIAL = re.compile(r"([\\`*\[\]|])")
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
#: Rows of a table; the others are in the JSON.
_MOST = 200


def escape(text: object) -> str:
    r"""Return `text` as plain text of a Markdown table's cell.

    Examples
    --------
    >>> print(escape("a|b <i>"))
    a\|b &lt;i&gt;
    """
    plain = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    for character, entity in _MARKUP.items():
        plain = plain.replace(character, entity)
    return _SPECIAL.sub(r"\\\1", plain)


def markdown(report: CycleReport) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    lines = [f"# Cycle {escape(report.cycle_id)}", "", *_inputs(report)]
    lines += ["", "## Baseline diagnosis", "", *_overall(report.diagnosis)]
    lines += _tables(report)
    if report.comparison is not None:
        lines += ["", "## Since the previous cycle", "", *_previous(report)]
    return "\n".join(lines) + "\n"


def _inputs(report: CycleReport) -> Iterator[str]:
    policy = report.diagnosis.policy
    yield f"Policy {escape(policy.name)} {policy.version} (`{policy.digest[:12]}`)."
    for remark in report.remarks:
        yield f"**Note.** {escape(remark)}"
    yield ""
    rows = ((one.arm, one.name, one.records, f"`{one.sha256[:12]}`") for one in report.inputs)
    yield from _table(("Arm", "Name", "Records", "sha256"), rows, raw={3})


def _overall(diagnosis: Diagnosis) -> Iterator[str]:
    whole, quality, around = diagnosis.overall, diagnosis.task_quality, diagnosis.infrastructure
    yield f"- Attempts: {whole.attempts} at {whole.tasks} tasks ({whole.unjudged} without verdict)"
    yield f"- Observed success: {share(whole.success_rate)} ({interval(whole.success_interval)})"
    yield f"- Task quality: {share(quality.success_rate)} ({interval(quality.success_interval)})"
    bounds = interval(around.bounds)
    yield (
        f"- Infrastructure failures: {around.failures} ({codes(around.failure_codes)}); success if "
        f"all of them had failed or succeeded: {bounds}"
    )
    yield (
        f"- Latency: mean {amount(whole.average_latency_ms)} ms, median "
        f"{amount(whole.median_latency_ms)} ms, 95th percentile {amount(whole.p95_latency_ms)} ms"
    )
    yield (
        f"- Tokens an attempt: {amount(whole.average_total_tokens)}; cost: "
        f"{amount(whole.average_cost_usd, decimals=4)} USD"
    )
    yield (
        f"- Safety violations: {whole.safety_violations} of {whole.safety_evaluated} evaluated "
        f"attempts ({share(whole.safety_violation_rate)})"
    )
    for one in diagnosis.passes:
        yield (
            f"- pass@{one.k} {share(one.pass_at_k)}, pass^{one.k} {share(one.pass_hat_k)} "
            f"({one.tasks} tasks)"
        )


def _tables(report: CycleReport) -> Iterator[str]:
    diagnosis = report.diagnosis
    yield from _section("Per-task results")
    heads = ("Task", "Area", "Capabilities", "Attempts", "Success", "Expected", "Gap")
    yield from _table(
        (*heads, "Failure codes"),
        (
            (
                row.task_id,
                row.task_area,
                ", ".join(row.capability_tags[:4]) + ("…" if len(row.capability_tags) > 4 else ""),
                row.attempts,
                share(row.success_rate),
                share(row.expected_success_rate),
                points(row.gap_to_expected),
                codes(row.failure_codes),
            )
            for row in diagnosis.task_table
        ),
    )
    yield from _section("Capability matrix")
    columns = ("Capability", "Weak", "Attempts", "Success", "Interval", "Expected", "Gap", "p")
    yield from _table(
        (*columns, "Area success rates"),
        (
            (
                row.capability,
                "yes" if row.weak else "no",
                row.attempts,
                share(row.success_rate),
                interval(row.success_interval),
                share(row.expected_success_rate),
                points(row.gap_to_expected),
                p_value(row.test.adjusted_p_value if row.test else None),
                "; ".join(f"{area}: {share(one.success_rate)}" for area, one in row.areas.items()),
            )
            for row in diagnosis.capability_matrix
        ),
    )
    yield from _section("Failure regions")
    yield from _table(
        ("Area", "Failures", "Share", "Leading codes"),
        (
            (row.task_area, row.failures, share(row.failure_share), codes(row.failure_codes))
            for row in diagnosis.failure_regions
        ),
    )
    yield from _proposals(report)
    for experiment in report.experiments:
        yield from _experiment(experiment)
    yield from _outcome(report)


def _proposals(report: CycleReport) -> Iterator[str]:
    yield from _section("Improvement hypotheses")
    yield from _table(
        ("ID", "Layer", "Phase", "Capability", "Target uplift", "Tasks needed", "Validation"),
        (
            (
                one.id,
                one.layer,
                one.phase,
                ", ".join(one.capability_tags),
                points(one.expected_uplift),
                amount(one.required.tasks) if one.required else "–",
                one.validation_method,
            )
            for one in report.hypotheses
        ),
    )


def _outcome(report: CycleReport) -> Iterator[str]:
    yield from _section("Deployment decisions")
    yield from _table(
        ("Candidate", "Hypothesis", "Decision", "Uplift", "Cost-benefit", "Reason"),
        (
            (
                one.name,
                one.hypothesis_id,
                one.decision,
                points(one.observed_uplift),
                amount(one.cost_benefit_score, decimals=4),
                one.reason,
            )
            for one in report.decisions
        ),
    )
    yield from _section("Next iteration")
    yield from _table(
        ("Area", "Share of failures", "Leading codes"),
        (
            (one.task_area, share(one.failure_share), ", ".join(one.leading_failure_codes))
            for one in report.next_iteration_focus
        ),
    )


def _experiment(found: Comparison) -> Iterator[str]:
    yield from _section(f"Experiment {found.name}")
    coverage = found.coverage
    yield (
        f"{coverage.paired_tasks} tasks and {coverage.paired_attempts} attempts in both arms; "
        f"{len(coverage.baseline_only)} tasks in the baseline alone, "
        f"{len(coverage.candidate_only)} in the candidate alone, "
        f"{len(coverage.changed_versions)} changed between them. {escape(conduct(found))}"
    )
    yield ""
    scopes = [("suite", found.suite)]
    if found.target_capabilities or found.target_areas:
        scopes.insert(0, ("target", found.target))
    yield from _table(
        ("Scope", "Baseline", "Candidate", "Uplift", "Interval", "p better", "p worse"),
        (
            (
                scope,
                share(arms.baseline.success_rate),
                share(arms.candidate.success_rate),
                points(arms.success_rate_uplift),
                interval(arms.uplift.interval if arms.uplift else None, difference=True),
                p_value(arms.uplift.better_p if arms.uplift else None),
                p_value(arms.uplift.worse_p if arms.uplift else None),
            )
            for scope, arms in scopes
        ),
    )
    if found.guardrails:
        yield ""
        yield from _table(
            ("Guardrail", "Scope", "Status", "Change", "Limit"),
            (
                (
                    one.metric,
                    one.scope,
                    one.status,
                    _change(one, one.change),
                    _change(one, one.limit),
                )
                for one in found.guardrails
            ),
        )
    if found.regressions:
        harmed = ", ".join(f"{one.capability} ({points(one.uplift)})" for one in found.regressions)
        yield f"\nWorse outside the target: {escape(harmed)}."


def _change(one: Guardrail, value: float | None) -> str:
    return growth(value) if one.metric in RELATIVE else f"{points(value)} points"


def _previous(report: CycleReport) -> Iterator[str]:
    change = report.comparison
    if change is None:
        return
    yield (
        f"Success {share(change.previous_rate)} → {share(change.current_rate)} "
        f"({interval(change.success_rate_change, difference=True)})."
    )
    yield ""
    yield from _table(
        ("Failure code", "Before", "Now", "Change"),
        (
            (one.failure_code, one.baseline_count, one.candidate_count, f"{one.count_delta:+d}")
            for one in change.codes
        ),
    )


def _section(title: str) -> list[str]:
    return ["", f"## {escape(title)}", ""]


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], raw: Iterable[int] = ()
) -> Iterator[str]:
    """Yield the lines of a table; the columns `raw` are written by this module itself."""
    kept = list(rows)
    if not kept:
        yield "None."
        return
    own = set(raw)
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in kept[:_MOST]:
        cells = (str(c) if n in own else escape(c) for n, c in enumerate(row))
        yield f"| {' | '.join(cells)} |"
    if len(kept) > _MOST:
        yield f"\n{len(kept) - _MOST} more rows are in `cycle-report.json`."
