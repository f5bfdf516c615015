"""Interactive charts as Vega-Lite specifications, drawn by Altair.

A model's name stands above its row, so that long names fit on a telephone as well.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from assay.plots.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from assay.plots.tables import POOLED, family
from assay.report.inputs import ReportInputs

_COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, "#56B4E9", "#999999")
_LABEL = 20  # pixels above a row for its name


def charts(inputs: ReportInputs) -> dict[str, dict[str, Any]]:
    """Return chart name → Vega-Lite specification, data included; what compares needs two models.

    Each has a parameter ``benchmark``, which the page sets.
    """
    drawn = {"accuracy": accuracy_chart(inputs)}
    if len(inputs.models) > 1:
        drawn["ranks"] = rank_chart(inputs)
    if inputs.tables["pairs"]["adjacent"].any():
        drawn["gaps"] = gap_chart(inputs)
    # Altair refuses more than 5,000 rows unless told that they are meant.
    with alt.data_transformers.enable("default", max_rows=None):
        return {name: finished(chart) for name, chart in drawn.items()}


def accuracy_chart(inputs: ReportInputs) -> alt.LayerChart:
    """Draw the accuracy of every configuration, a row for each model, a line for each family."""
    table = inputs.tables["accuracy"]
    families = _families(inputs)
    data = table.assign(
        family=_family_of(table),
        reference=table["configuration"] == inputs.summary.reference,
    )
    columns = ["model", "benchmark", "configuration", "family", "reference", "accuracy", "low"]
    base = alt.Chart(data[[*columns, "high", "n", "compliance", "chance"]])
    step = 12 * len(families)
    y = named_rows(inputs.models, step=step)
    points = base.mark_circle(size=46, opacity=0.85).encode(
        x=alt.X(
            "accuracy:Q",
            axis=alt.Axis(format="%", title="accuracy", tickCount=5),
            scale=_unit_scale(),
        ),
        y=y,
        yOffset=alt.YOffset("family:N", sort=families),
        color=alt.Color("family:N", sort=families, scale=_palette(families), legend=top_legend()),
        tooltip=[
            alt.Tooltip("model:N"),
            alt.Tooltip("configuration:N"),
            alt.Tooltip("accuracy:Q", format=".1%"),
            alt.Tooltip("low:Q", format=".1%", title="interval from"),
            alt.Tooltip("high:Q", format=".1%", title="to"),
            alt.Tooltip("compliance:Q", format=".1%", title="usable answers"),
            alt.Tooltip("n:Q", title="items"),
        ],
    )
    ring = (
        base.transform_filter("datum.reference")
        .mark_point(size=90, strokeWidth=1.6, filled=False, color="currentColor")
        .encode(x="accuracy:Q", y=y, yOffset=alt.YOffset("family:N", sort=families))
    )
    chance = base.mark_rule(strokeDash=[3, 3], opacity=0.5, color="currentColor").encode(
        x="mean(chance):Q"
    )
    return alt.layer(chance, points, ring).properties(height=row_height(step))


def rank_chart(inputs: ReportInputs) -> alt.LayerChart:
    """Draw the rank of every model under every configuration as a shaded cell."""
    table = inputs.tables["ranks"].merge(
        inputs.tables["accuracy"][["model", "benchmark", "configuration", "scoring", "format"]],
        on=["model", "benchmark", "configuration"],
    )
    data = table.assign(family=_family_of(table))
    columns = ["model", "benchmark", "configuration", "family", "rank", "accuracy"]
    base = alt.Chart(data[columns]).encode(
        x=alt.X(
            "configuration:N",
            sort=inputs.configurations,
            axis=alt.Axis(
                labelAngle=-90,
                labelLimit=150,
                labelExpr="replace(datum.label, 'gen|', '')",
                labelFontSize=alt.ExprRef("width < 480 ? 8.5 : 11"),
                title=None,
                ticks=False,
                domain=False,
            ),
            scale=alt.Scale(paddingInner=0.06, paddingOuter=0),
        ),
        y=named_rows(inputs.models, step=22),
        tooltip=["model:N", "configuration:N", "rank:Q", alt.Tooltip("accuracy:Q", format=".1%")],
    )
    count = len(inputs.models)
    shade = alt.Color(
        "rank:Q",
        scale=alt.Scale(scheme="cividis", domain=[1, max(2, count)]),
        legend=alt.Legend(
            orient="top", title="rank", tickMinStep=1, format="d", gradientLength=140
        ),
    )
    cells = base.mark_rect().encode(color=shade)
    numbers = base.mark_text(
        fontSize=10, opacity=alt.ExprRef("width < 480 ? 0 : 1"), baseline="middle"
    ).encode(
        text="rank:Q",
        color=alt.condition(
            f"datum.rank > {max(2, count) * 0.6}", alt.value("#111"), alt.value("#fff")
        ),
    )
    return alt.layer(cells, numbers).properties(height=row_height(22))


def gap_chart(inputs: ReportInputs) -> alt.LayerChart:
    """Draw the gap of each adjacent pair, split into fragile and robust items."""
    table = inputs.tables["pairs"]
    table = table[table["adjacent"].astype(bool)]
    names = table["better"] + " over " + table["worse"]
    columns = ["benchmark", "gap", "low", "high", "gap_fragile", "gap_robust", "verdict"]
    data = (
        table[columns]
        .assign(pair=names)
        .rename(columns={"gap_fragile": "fragile items", "gap_robust": "robust items"})
    )
    base = alt.Chart(data)
    y = named_rows(list(dict.fromkeys(names)), step=16, field="pair")
    parts = ["fragile items", "robust items"]
    bars = (
        base.transform_fold(parts, as_=["part", "points"])
        .mark_bar()
        .encode(
            x=alt.X(
                "points:Q",
                axis=alt.Axis(
                    labelExpr="datum.value === 0 ? '0' : format(100 * datum.value, '+.3~g')",
                    title="accuracy gap, points",
                    tickCount=6,
                ),
            ),
            y=y,
            color=alt.Color(
                "part:N",
                sort=parts,
                legend=top_legend(),
                scale=alt.Scale(domain=parts, range=[ORANGE, BLUE]),
            ),
            tooltip=[
                "pair:N",
                "part:N",
                alt.Tooltip("points:Q", format="+.1%"),
                alt.Tooltip("gap:Q", format="+.1%", title="whole gap"),
                alt.Tooltip("low:Q", format="+.1%", title="interval from"),
                alt.Tooltip("high:Q", format="+.1%", title="to"),
                "verdict:N",
            ],
        )
    )
    interval = base.mark_rule(strokeWidth=1.5, color="currentColor").encode(
        x="low:Q", x2="high:Q", y=y
    )
    whole = base.mark_tick(thickness=3, size=16, color="currentColor").encode(x="gap:Q", y=y)
    return alt.layer(bars, interval, whole).properties(height=row_height(16))


def row_height(step: int) -> alt.Step:
    """Return the height of a chart whose rows are `step` pixels high, names aside."""
    return alt.Step(step + _LABEL, **{"for": "position"})


def named_rows(names: list[str], *, step: int, field: str = "model") -> alt.Y:
    """Return a band scale with each row's name on a line of its own above it."""
    whole = step + _LABEL
    return alt.Y(
        f"{field}:N",
        sort=names,
        title=None,
        scale=alt.Scale(paddingInner=_LABEL / whole, paddingOuter=_LABEL / whole / 2, align=1),
        axis=alt.Axis(
            labelAlign="left",
            labelPadding=0,
            labelOffset=-(step / 2 + _LABEL / 2 - 2),
            labelLimit=1000,
            labelFontSize=12,
            ticks=False,
            domain=False,
            grid=False,
        ),
    )


def _family_of(table: pd.DataFrame) -> list[str]:
    pairs = zip(table["scoring"], table["format"], strict=True)
    return [family(scoring, form).replace("_", " ") for scoring, form in pairs]


def _families(inputs: ReportInputs) -> list[str]:
    """Return the families, that of the reference first."""
    table = inputs.tables["accuracy"]
    names = dict(zip(table["configuration"], _family_of(table), strict=True))
    return list(dict.fromkeys(names[key] for key in inputs.configurations if key in names))


def _palette(names: list[str]) -> alt.Scale:
    colours = [_COLOURS[index % len(_COLOURS)] for index in range(len(names))]
    return alt.Scale(domain=names, range=colours)


def top_legend(columns: int = 3) -> alt.Legend:
    """Return a legend above the chart."""
    return alt.Legend(
        orient="top", title=None, columns=columns, symbolType="circle", labelLimit=180
    )


def _unit_scale() -> alt.Scale:
    return alt.Scale(domain=[0, 1])


def finished(chart: alt.LayerChart, *, scope: str = POOLED) -> dict[str, Any]:
    """Filter by the page's benchmark and return the specification, without any colours of text.

    Parameters
    ----------
    scope : str
        The benchmark that is shown first.
    """
    chosen = alt.param(name="benchmark", value=scope)
    spec = (
        chart.add_params(chosen)
        .transform_filter("datum.benchmark === benchmark")
        .properties(
            width=600,
            # Names stand inside the plot, so that the page can set its width to its own.
            autosize="pad",
            padding={"left": 1, "right": 4, "top": 2, "bottom": 2},
        )
        .to_dict()
    )
    del spec["config"]  # the page has its own colours, light and dark
    return dict(spec)
