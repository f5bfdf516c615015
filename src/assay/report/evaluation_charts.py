"""Charts of the evaluation page: capabilities, failures, uplifts and guardrails, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from assay.evaluation.cycle import CycleReport
from assay.plots.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from assay.report.charts import finished, named_rows, row_height, top_legend
from assay.report.evaluation_forests import (
    ends,
    guardrail_rows,
    guardrails,
    uplift_rows,
    uplifts,
)

_CODES = (VERMILLION, ORANGE, BLUE, GREEN, PURPLE, "#56B4E9", "#CC79A7")
_OTHER = "other codes"
#: Rows of a chart; the tables have them all.
_MOST = 40


def evaluation_charts(reports: Sequence[CycleReport]) -> dict[str, dict[str, Any]]:
    """Return chart name → Vega-Lite specification; those without data are left out.

    Each has a parameter ``benchmark``: the cycle that the page shows.
    """
    tables = {
        "capabilities": pd.DataFrame(list(_capability_rows(reports))),
        "regions": pd.DataFrame(list(_region_rows(reports))),
        "uplifts": pd.DataFrame(list(uplift_rows(reports))),
        "guardrails": pd.DataFrame(list(guardrail_rows(reports))),
    }
    draw = {
        "capabilities": _capabilities,
        "regions": _regions,
        "uplifts": uplifts,
        "guardrails": guardrails,
    }
    with alt.data_transformers.enable("default", max_rows=None):
        return {
            name: finished(draw[name](table), scope=reports[0].cycle_id)
            for name, table in tables.items()
            if len(table)
        }


def _capability_rows(reports: Sequence[CycleReport]) -> Iterator[Mapping[str, object]]:
    for report in reports:
        rows = [row for row in report.diagnosis.capability_matrix if row.success_rate is not None]
        for row in sorted(rows, key=lambda row: -(row.gap_to_expected or 0))[:_MOST]:
            yield {
                "benchmark": report.cycle_id,
                "capability": row.capability,
                "success": row.success_rate,
                **ends(row.success_interval),
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
