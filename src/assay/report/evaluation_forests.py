"""Forest plots of the evaluation page: what candidates gain and lose, and their guardrails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import altair as alt
import pandas as pd

from assay.evaluation.cycle import CycleReport
from assay.evaluation.results import Bounds
from assay.evaluation.verdicts import ArmsComparison, Comparison
from assay.plots.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from assay.report.charts import named_rows, row_height, top_legend

_STATUS = {"passed": GREEN, "inconclusive": ORANGE, "failed": VERMILLION}
#: Experiments of a cycle whose capabilities and guardrails are drawn one by one.
FEW = 3
#: Capabilities of one experiment; the tables have them all.
_MOST = 40
_PERCENT = "datum.value === 0 ? '0' : format(100 * datum.value, '+.3~g')"


def ends(bounds: Bounds | None) -> dict[str, float | None]:
    """Return the ends of an interval as columns."""
    return {
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
    }


def uplift_rows(reports: Sequence[CycleReport]) -> Iterator[Mapping[str, object]]:
    """Yield a row for everything that a candidate is compared on."""
    for report in reports:
        few = len(report.experiments) <= FEW
        for found in report.experiments:
            for kind, name, arms in _parts(found, every=few):
                estimate = arms.uplift.estimate if arms.uplift else arms.success_rate_uplift
                if estimate is None:
                    continue
                yield {
                    "benchmark": report.cycle_id,
                    "row": _named(report, found, name),
                    "kind": kind,
                    "uplift": estimate,
                    **ends(arms.uplift.interval if arms.uplift else None),
                    "baseline": arms.baseline.success_rate,
                    "candidate": arms.candidate.success_rate,
                    "attempts": arms.candidate.attempts,
                    "zero": 0,
                }


def _named(report: CycleReport, found: Comparison, name: str) -> str:
    """Return a row's name, with the experiment's where there are several."""
    if len(report.experiments) == 1:
        return name
    aimed = bool(found.target_capabilities or found.target_areas)
    return found.name if name == "whole suite" and not aimed else f"{found.name}: {name}"


def _parts(found: Comparison, *, every: bool) -> Iterator[tuple[str, str, ArmsComparison]]:
    """Yield kind, name and arms of what a candidate is compared on."""
    if found.target_capabilities or found.target_areas:
        yield "target", "target", found.target
    yield "whole suite", "whole suite", found.suite
    for one in found.by_capability[:_MOST]:
        if every or one.harmed:
            yield ("harmed" if one.harmed else "capability"), one.capability, one


def uplifts(data: pd.DataFrame) -> alt.LayerChart:
    """Draw the uplift of each row with its interval."""
    kinds = {"target": BLUE, "whole suite": PURPLE, "capability": "#999999", "harmed": VERMILLION}
    base = alt.Chart(data)
    y = named_rows(list(dict.fromkeys(data["row"])), step=12, field="row")
    colour = alt.Color(
        "kind:N",
        legend=top_legend(4),
        scale=_scale(kinds, data["kind"]),
    )
    axis = alt.Axis(labelExpr=_PERCENT, title="success, candidate − baseline, points", tickCount=6)
    interval = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", axis=axis), x2="high:Q", y=y, color=colour
    )
    point = base.mark_circle(size=70, opacity=1).encode(
        x=alt.X("uplift:Q", axis=axis),
        y=y,
        color=colour,
        tooltip=[
            "row:N",
            alt.Tooltip("uplift:Q", format="+.1%"),
            alt.Tooltip("low:Q", format="+.1%", title="interval from"),
            alt.Tooltip("high:Q", format="+.1%", title="to"),
            alt.Tooltip("baseline:Q", format=".1%"),
            alt.Tooltip("candidate:Q", format=".1%"),
            "attempts:Q",
        ],
    )
    return alt.layer(_zero(base), interval, point).properties(height=row_height(12))


def _scale(colours: Mapping[str, str], present: pd.Series) -> alt.Scale:
    names = [name for name in colours if name in set(present)]
    return alt.Scale(domain=names, range=[colours[name] for name in names])


def _zero(base: alt.Chart) -> alt.Chart:
    # A mean over the rows: one line instead of one a row.
    return base.mark_rule(opacity=0.5, color="currentColor").encode(x="mean(zero):Q")


def guardrail_rows(reports: Sequence[CycleReport]) -> Iterator[Mapping[str, object]]:
    """Yield a row for each guardrail that was measured."""
    for report in reports:
        few = len(report.experiments) <= FEW
        for found in report.experiments:
            for one in found.guardrails:
                if one.change is None or one.status not in _STATUS:
                    continue
                if one.status == "passed" and not few:
                    continue
                yield {
                    "benchmark": report.cycle_id,
                    "row": _named(report, found, f"{one.metric.replace('_', ' ')}, {one.scope}"),
                    "change": one.change,
                    **ends(one.interval),
                    "limit": one.limit,
                    "status": one.status,
                    "tasks": one.tasks,
                    "zero": 0,
                }


def guardrails(data: pd.DataFrame) -> alt.LayerChart:
    """Draw the change of each guardrail with its interval and its limit."""
    base = alt.Chart(data)
    y = named_rows(list(dict.fromkeys(data["row"])), step=12, field="row")
    colour = alt.Color(
        "status:N",
        legend=top_legend(),
        scale=_scale(_STATUS, data["status"]),
    )
    axis = alt.Axis(labelExpr=_PERCENT, title="change, % or points", tickCount=6)
    interval = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", axis=axis), x2="high:Q", y=y, color=colour
    )
    point = base.mark_circle(size=70, opacity=1).encode(
        x=alt.X("change:Q", axis=axis),
        y=y,
        color=colour,
        tooltip=[
            "row:N",
            "status:N",
            alt.Tooltip("change:Q", format="+.1%"),
            alt.Tooltip("low:Q", format="+.1%", title="interval from"),
            alt.Tooltip("high:Q", format="+.1%", title="to"),
            alt.Tooltip("limit:Q", format="+.1%"),
            "tasks:Q",
        ],
    )
    limit = base.mark_tick(thickness=2.5, size=16, color="currentColor").encode(x="limit:Q", y=y)
    return alt.layer(_zero(base), interval, limit, point).properties(height=row_height(12))
