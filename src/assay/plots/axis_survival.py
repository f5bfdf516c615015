"""How much of the reference accuracy survives a change of order, format or scoring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from assay.plots.rows import Sheet, grid_lines, row_sheet
from assay.plots.style import BLUE, GREEN, INK, ORANGE, PALE, VERMILLION, paper_style
from assay.plots.tables import POOLED, by_reference, row_dicts, select


@dataclass(frozen=True)
class _Mark:
    column: str
    label: str
    colour: str
    marker: str


_MARKS = (
    _Mark("reference", "reference", INK, "o"),
    _Mark("order_robust", "every order", BLUE, "s"),
    _Mark("format_robust", "every format", GREEN, "D"),
    _Mark("scoring_robust", "every scoring", ORANGE, "^"),
    _Mark("robust", "all of them", VERMILLION, "v"),
)
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_STEP = 2.7  # points between the marks of a row, so that equal values stay visible


def axis_survival(
    band: pd.DataFrame, *, benchmark: str = POOLED, note: str | None = None
) -> Figure:
    """Draw, per model, the accuracy that survives each axis of the grid, and all of them.

    Parameters
    ----------
    band : DataFrame
        The analysis table of this name.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.
    """
    models = by_reference(band, benchmark)
    columns = ("model", *(mark.column for mark in _MARKS))
    rows = select(band, "band", columns, benchmark=benchmark)
    handles = [
        Line2D([], [], color=mark.colour, marker=mark.marker, ls="none", ms=3.6, label=mark.label)
        for mark in _MARKS
    ]
    with paper_style():
        sheet = row_sheet(
            models, mark_height=_STEP * 5 + 1, handles=handles, legend_columns=3, note=note
        )
        for row in row_dicts(rows):
            _draw_row(sheet, sheet.centres[models.index(row["model"])], row)
        panel = sheet.panels[0]
        grid_lines(sheet, panel, _TICKS)
        panel.set_xlim(-0.01, 1.01)
        panel.set_xticks(_TICKS, [f"{tick:.0%}" for tick in _TICKS])
        panel.set_xlabel("items right under every configuration along the axis")
        panel.get_xticklabels()[0].set_horizontalalignment("left")
        panel.get_xticklabels()[-1].set_horizontalalignment("right")
    return sheet.figure


def _draw_row(sheet: Sheet, centre: float, row: dict[str, Any]) -> None:
    panel = sheet.panels[0]
    first = centre - _STEP * (len(_MARKS) - 1) / 2
    for index, mark in enumerate(_MARKS):
        y = first + index * _STEP
        value = row[mark.column]
        panel.hlines(y, value, row["reference"], color=PALE, lw=1.0, zorder=1)
        panel.plot(value, y, mark.marker, color=mark.colour, ms=3.0, mew=0, zorder=3)
