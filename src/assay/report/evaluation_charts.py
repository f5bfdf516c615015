"""Charts of the evaluation page: capabilities, failures, uplifts and guardrails, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from assay.evaluation.cycle import CycleReport
from assay.evaluation.results import Bounds
from assay.evaluation.verdicts import ArmsComparison, Comparison
from assay.plots.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from assay.report.charts import finished, named_rows, row_height, top_legend

_CODES = (VERMILLION, ORANGE, BLUE, GREEN, PURPLE, "#56B4E9", "#CC79A7")
_OTHER = "other codes"
_STATUS = {
    "passed": GREEN,
    "inconclusive": ORANGE,
    "failed": VERMILLION,
    "not_evaluated": "#999999",
}
#: Rows of a chart and of one experiment; the tables have them all.
_MOST = 40
#: Experiments of a cycle whose capabilities and guardrails are drawn one by one.
FEW = 3
_PERCENT = "datum.value === 0 ? '0' : format(100 * datum.value, '+.3~g')"


def evaluation_charts(reports: Sequence[CycleReport]) -> dict[str, dict[str, Any]]:
    """Return chart name → Vega-Lite specification; those without data are left out.

    Each has a parameter ``benchmark``: the cycle that the page shows.
    """
    tables = {
        "capabilities": pd.DataFrame(_capability_rows(reports)),
        "regions": pd.DataFrame(_region_rows(reports)),
        "uplifts": pd.DataFrame(_uplift_rows(reports)),
        "guardrails": pd.DataFrame(_guardrail_rows(reports)),
    }
    draw = {
        "capabilities": _capabilities,
        "regions": _regions,
        "uplifts": _uplifts,
        "guardrails": _guardrails,
    }
    with alt.data_transformers.enable("default", max_rows=None):
        return {
            name: finished(draw[name](table), scope=reports[0].cycle_id)
            for name, table in tables.items()
            if len(table)
        }


def _bounds(bounds: Bounds | None) -> dict[str, float | None]:
    return {
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
    }


def _capability_rows(reports: Sequence[CycleReport]) -> Iterator[Mapping[str, object]]:
    for report in reports:
        rows = [row for row in report.diagnosis.capability_matrix if row.success_rate is not None]
        for row in sorted(rows, key=lambda row: -(row.gap_to_expected or 0))[:_MOST]:
            yield {
                "benchmark": report.cycle_id,
                "capability": row.capability,
                "success": row.success_rate,
                **_bounds(row.success_interval),
                "expected": row.expected_success_rate,
                "gap": row.gap_to_expected,
                "attempts": row.attempts,
                "finding": "weak" if row.weak else "not shown to be weak",
            }


def _capabilities(data: pd.DataFrame) -> alt.LayerChart:
    base = alt.Chart(data)
    y = named_rows(list(dict.fromkeys(data["capability"])), step=14, field="capability")
    colour = alt.Color(
        "finding:N",
        legend=top_legend(),
        scale=alt.Scale(domain=["weak", "not shown to be weak"], range=[VERMILLION, BLUE]),
    )
    axis = alt.Axis(format="%", title="success", tickCount=5)
    interval = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", axis=axis, scale=alt.Scale(domain=[0, 1])), x2="high:Q", y=y, color=colour
    )
    rate = base.mark_circle(size=70, opacity=1).encode(
        x="success:Q",
        y=y,
        color=colour,
        tooltip=[
            "capability:N",
            alt.Tooltip("success:Q", format=".1%"),
            alt.Tooltip("low:Q", format=".1%", title="interval from"),
            alt.Tooltip("high:Q", format=".1%", title="to"),
            alt.Tooltip("expected:Q", format=".1%"),
            "attempts:Q",
            "finding:N",
        ],
    )
    expected = base.mark_tick(thickness=2.5, size=16, color="currentColor").encode(
        x="expected:Q", y=y
    )
    return alt.layer(interval, expected, rate).properties(height=row_height(14))


def _region_rows(reports: Sequence[CycleReport]) -> Iterator[Mapping[str, object]]:
    counts: dict[str, int] = {}
    for report in reports:
        for region in report.diagnosis.failure_regions:
            for code, count in region.failure_codes.items():
                counts[code] = counts.get(code, 0) + count
    shown = sorted(counts, key=lambda code: (-counts[code], code))[: len(_CODES)]
    for report in reports:
        for region in report.diagnosis.failure_regions[:_MOST]:
            tally: dict[str, int] = {}
            for code, count in region.failure_codes.items():
                name = code if code in shown else _OTHER
                tally[name] = tally.get(name, 0) + count
            unstated = region.failures - sum(tally.values())
            if unstated > 0:
                tally["no code"] = unstated
            for code, count in tally.items():
                yield {
                    "benchmark": report.cycle_id,
                    "area": region.task_area,
                    "code": code.replace("_", " ").lower() if code.isupper() else code,
                    "failures": count,
                    "share": region.failure_share,
                }


def _regions(data: pd.DataFrame) -> alt.LayerChart:
    names = list(dict.fromkeys(data.sort_values("share", ascending=False)["area"]))
    codes = list(data.groupby("code")["failures"].sum().sort_values(ascending=False).index)
    colours = [_CODES[n] if n < len(_CODES) else "#999999" for n in range(len(codes))]
    bars = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X(
                "failures:Q", axis=alt.Axis(title="failed attempts", tickMinStep=1, tickCount=6)
            ),
            y=named_rows(names, step=16, field="area"),
            color=alt.Color(
                "code:N",
                sort=codes,
                legend=alt.Legend(
                    orient="top",
                    title=None,
                    columns=alt.ExprRef("width < 520 ? 1 : 2"),
                    symbolType="square",
                    labelLimit=260,
                ),
                scale=alt.Scale(domain=codes, range=colours),
            ),
            tooltip=[
                "area:N",
                "code:N",
                "failures:Q",
                alt.Tooltip("share:Q", format=".0%", title="area's share of all failures"),
            ],
        )
    )
    return alt.layer(bars).properties(height=row_height(16))


def _uplift_rows(reports: Sequence[CycleReport]) -> Iterator[Mapping[str, object]]:
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
                    **_bounds(arms.uplift.interval if arms.uplift else None),
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


def _uplifts(data: pd.DataFrame) -> alt.LayerChart:
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


def _guardrail_rows(reports: Sequence[CycleReport]) -> Iterator[Mapping[str, object]]:
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
                    **_bounds(one.interval),
                    "limit": one.limit,
                    "status": one.status,
                    "tasks": one.tasks,
                    "zero": 0,
                }


def _guardrails(data: pd.DataFrame) -> alt.LayerChart:
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
