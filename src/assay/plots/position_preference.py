"""Whether a model prefers a slot or a label, whatever stands there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from assay.plots.names import elide, text_width
from assay.plots.rows import Sheet, message_figure, row_sheet
from assay.plots.style import BLUE, PALE, SMALL, VERMILLION, WIDTH, paper_style
from assay.plots.tables import POOLED, by_reference, row_dicts, select

_COLUMNS = ("model", "benchmark", "format", "label", "slot", "chosen", "gold", "n")
_LEFT = 6.0
_BETWEEN = 7.0
_MARK = 17.0


def position_preference(
    slots: pd.DataFrame,
    band: pd.DataFrame,
    *,
    benchmark: str = POOLED,
    note: str | None = None,
) -> Figure:
    """Draw, per model and format, the share of answers in each slot beside the gold's share.

    Parameters
    ----------
    slots, band : DataFrame
        The analysis tables of these names; `band` gives the order of the models.
    benchmark : str
        Which rows to draw; ``"all"`` pools the counts of all benchmarks.
    note : str, optional
        A line at the bottom of the figure.
    """
    table = _pooled(select(slots, "slots", _COLUMNS), benchmark)
    with paper_style():
        if table.empty:
            return message_figure("No generated answers: no position to prefer.", note=note)
        present = set(table["model"])
        models = [model for model in by_reference(band, benchmark) if model in present]
        formats = list(dict.fromkeys(table["format"]))
        width = (WIDTH - 2 * _LEFT - _BETWEEN * (len(formats) - 1)) / len(formats)
        panels = [(_LEFT + index * (width + _BETWEEN), width) for index in range(len(formats))]
        top = _scale_top(table)
        sheet = row_sheet(
            models,
            mark_height=_MARK,
            handles=_handles(top),
            legend_columns=3,
            panels=panels,
            heading=11,
            scale=12,
            note=note,
        )
        for panel, form in zip(sheet.panels, formats, strict=True):
            _draw_format(sheet, panel, table[table["format"] == form], models, top, width)
            heading = elide(str(form).replace("_", " "), width, SMALL)
            panel.text(
                0,
                -2.5,
                heading,
                transform=panel.get_yaxis_transform(),
                va="bottom",
                ha="left",
                fontsize=SMALL,
            )
    return sheet.figure


def _pooled(table: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    """Return shares per model, format and slot, from pooled rows or by adding up the counts."""
    if table.empty:
        return table
    if benchmark != POOLED or (table["benchmark"] == POOLED).any():
        table = select(table, "slots", _COLUMNS, benchmark=benchmark)
    keys = ["model", "format", "slot", "label"]
    counts = table.groupby(keys, sort=False, as_index=False)[["chosen", "gold", "n"]].sum()
    # A slot that some items lack still shares the whole format's answers.
    whole = counts.groupby(["model", "format"])["n"].transform("max")
    return counts.assign(share=counts["chosen"] / whole, gold_share=counts["gold"] / whole)


def _scale_top(table: pd.DataFrame) -> float:
    """Return the share that fills a row: the highest one, rounded up to a quarter."""
    return math.ceil(4 * float(table[["share", "gold_share"]].max().max())) / 4


def _draw_format(
    sheet: Sheet, panel: Axes, table: pd.DataFrame, models: Sequence[str], top: float, width: float
) -> None:
    labels = table.drop_duplicates("slot").sort_values("slot")
    count = len(labels)
    place = {slot: index for index, slot in enumerate(labels["slot"])}
    for model, bottom in zip(models, sheet.bottoms, strict=True):
        panel.hlines([bottom, bottom - _MARK], -0.5, count - 0.5, color=PALE, lw=0.5, zorder=0)
        for row in row_dicts(table[table["model"] == model]):
            x = place[row["slot"]]
            height = _MARK * row["share"] / top
            panel.bar(x, -height, bottom=bottom, width=0.66, color=BLUE, lw=0, zorder=2)
            gold = bottom - _MARK * row["gold_share"] / top
            panel.hlines(gold, x - 0.46, x + 0.46, color=VERMILLION, lw=1.3, zorder=3)
    panel.set_xlim(-0.5, count - 0.5)
    widest = max(text_width(str(label), SMALL) for label in labels["label"])
    step = -(-int((widest + 2) * count) // int(width))  # leave out labels that would touch
    ticks = range(0, count, step)
    panel.set_xticks(ticks, [str(label) for label in labels["label"].iloc[::step]])
    panel.tick_params(length=0)
    panel.spines["bottom"].set_visible(False)


def _handles(top: float) -> list[Artist]:
    return [
        Patch(color=BLUE, lw=0, label="chosen"),
        Line2D([], [], color=VERMILLION, lw=1.3, label="gold"),
        Line2D([], [], color=PALE, lw=0.8, label=f"0 and {top:.0%} of answers"),
    ]
