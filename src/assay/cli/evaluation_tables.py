"""What `diagnose`, `cycle`, `compare` and `equal-arms` print: tables that fit 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.cli.gates import Gate
from assay.evaluation.cycle import CycleReport
from assay.evaluation.equal_arms import Calibration
from assay.evaluation.results import Diagnosis
from assay.evaluation.verdicts import Comparison, Decision
from assay.evaluation.wording import amount, growth, interval, p_value, points, share

_STYLES = {"deploy": "green", "scoped": "cyan", "reject": "red", "insufficient_data": "yellow"}
#: Rows that a terminal is shown.
_MOST = 12


def show(*parts: RenderableType | None) -> None:
    """Print what there is to show; what looks like markup in a name is printed as it is."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(Group(*(part for part in parts if part is not None)))


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table | None:
    kept = list(rows)
    if not kept:
        return None
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, head in enumerate(heads):
        table.add_column(
            head, justify="left" if number == 0 else "right", overflow="fold", header_style="dim"
        )
    for row in kept[:_MOST]:
        table.add_row(*(Text(one) if isinstance(one, str) else one for one in row))
    if len(kept) > _MOST:
        table.caption, table.caption_justify = f"{len(kept) - _MOST} more in the report", "left"
    return table


def diagnosis_tables(diagnosis: Diagnosis) -> list[RenderableType | None]:
    """Return the baseline in one line, its weak capabilities and where it fails."""
    quality, around = diagnosis.task_quality, diagnosis.infrastructure
    weak = diagnosis.weak_capabilities
    return [
        Text(
            f"{quality.attempts} attempts at {quality.tasks} tasks: success "
            f"{share(quality.success_rate)} (95 % {interval(quality.success_interval)}); "
            f"{around.failures} infrastructure failures left out; {diagnosis.overall.unjudged} "
            "without a verdict."
        ),
        None if weak else Text("No capability is shown to be below its expectation."),
        _table(
            "Weak capabilities",
            ("capability", "success", "expected", "gap", "p adj.", "attempts"),
            (
                (
                    row.capability,
                    share(row.success_rate),
                    share(row.expected_success_rate),
                    points(row.gap_to_expected),
                    p_value(row.test.adjusted_p_value if row.test else None),
                    amount(row.attempts),
                )
                for row in weak
            ),
        ),
        _table(
            "Failure regions",
            ("area", "failures", "share", "leading code"),
            (
                (
                    row.task_area,
                    amount(row.failures),
                    share(row.failure_share),
                    next(iter(row.failure_codes), "–"),
                )
                for row in diagnosis.failure_regions
            ),
        ),
    ]


def cycle_tables(report: CycleReport) -> list[RenderableType | None]:
    """Return the diagnosis, the hypotheses and every decision."""
    by_name = {found.name: found for found in report.experiments}
    return [
        *diagnosis_tables(report.diagnosis),
        _table(
            "Hypotheses",
            ("id", "phase", "expected uplift", "tasks needed"),
            (
                (
                    one.id,
                    str(one.phase),
                    points(one.expected_uplift),
                    amount(one.required.tasks) if one.required else "–",
                )
                for one in report.hypotheses
            ),
        ),
        *(
            part
            for decision in report.decisions
            for part in decision_lines(by_name[decision.name], decision)
        ),
        *(Text(f"Note: {remark}", style="yellow") for remark in report.remarks),
    ]


def decision_lines(found: Comparison, decision: Decision) -> list[RenderableType | None]:
    """Return a candidate's verdict and what it rests on."""
    head = Text(f"\n{decision.name}: ", style="bold")
    head.append(decision.decision.replace("_", " "), style=f"bold {_STYLES[decision.decision]}")
    scopes = [("whole suite", found.suite)]
    if found.target_capabilities or found.target_areas:
        scopes.insert(0, ("target", found.target))
    return [
        head,
        Text(decision.reason[:1].upper() + decision.reason[1:]),
        _needed(decision),
        _table(
            "",
            ("", "success", "uplift", "95 %", "tokens", "latency", "cost"),
            (
                (
                    name,
                    f"{share(arms.baseline.success_rate).removesuffix(' %')} → "
                    f"{share(arms.candidate.success_rate)}",
                    points(arms.success_rate_uplift),
                    interval(arms.uplift.interval if arms.uplift else None, difference=True),
                    growth(arms.token_change_rate),
                    growth(arms.latency_change_rate),
                    growth(arms.cost_change_rate),
                )
                for name, arms in scopes
            ),
        ),
        _guardrails(found),
    ]


def _needed(decision: Decision) -> Text | None:
    enough = [one for one in decision.required if one.tasks is not None]
    if not enough:
        return None
    most = max(enough, key=lambda one: one.tasks or 0)
    return Text(
        f"It takes {amount(most.tasks)} tasks to find {points(most.effect)} points with "
        f"{most.power:.0%} power."
    )


def _guardrails(found: Comparison) -> Text | None:
    scopes: dict[tuple[str, str], list[str]] = {}
    for one in found.guardrails:
        if one.status != "passed":
            scopes.setdefault((one.metric, one.status), []).append(one.scope)
    if not scopes:
        return None
    named = (
        f"{metric} {status} ({', '.join(where)})".replace("_", " ")
        for (metric, status), where in scopes.items()
    )
    return Text(f"Guardrails: {'; '.join(named)}.")


def gate_table(found: Iterable[Gate]) -> Table | None:
    """Return the gates, those that failed in red."""
    return _table(
        "Gates",
        ("gate", "found", "limit", ""),
        (
            (
                one.name,
                "not measured" if one.value is None else f"{one.value:.4g}",
                f"{one.limit:g}",
                Text("passed", "green") if one.passed else Text("failed", "red"),
            )
            for one in found
        ),
    )


def calibration_table(found: Sequence[Calibration]) -> Table | None:
    """Return what each policy decides on equal arms."""
    return _table(
        "Equal arms: what chance alone decides",
        ("policy", "deployed", "95 %", "regression found", "95 %", "splits"),
        (
            (
                one.policy if one.how == "split" else f"{one.policy} (simulated)",
                share(one.deploy_rate),
                interval(one.deploy_interval),
                share(one.regression_rate),
                interval(one.regression_interval),
                amount(one.draws),
            )
            for one in found
        ),
    )
