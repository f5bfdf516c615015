"""How far one model's accuracy moves when only the way of asking changes."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from assay.plots.rows import Sheet, grid_lines, row_sheet
from assay.plots.style import BLUE, INK, SKY, VERMILLION, paper_style
from assay.plots.tables import POOLED, by_reference, row_dicts, select

_BAND_COLUMNS = (
    "model",
    "reference",
    "reference_low",
    "reference_high",
    "min",
    "max",
    "robust",
    "optimistic",
)
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def accuracy_band(
    band: pd.DataFrame,
    accuracy: pd.DataFrame,
    *,
    benchmark: str = POOLED,
    note: str | None = None,
) -> Figure:
    """Draw, per model, the range of accuracies over all configurations.

    Parameters
    ----------
    band, accuracy : DataFrame
        The analysis tables of these names; `accuracy` gives the chance level.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.

    Returns
    -------
    Figure
        Bar: lowest to highest configuration. Point and line: reference configuration with its
        interval. Ticks: right under all configurations (robust) and under at least one
        (optimistic), neither of which any single configuration need attain.
    """
    models = by_reference(band, benchmark)
    rows = select(band, "band", _BAND_COLUMNS, benchmark=benchmark)
    chance = select(accuracy, "accuracy", ("chance",), benchmark=benchmark)["chance"].mean()
    with paper_style():
        sheet = row_sheet(models, mark_height=9, handles=_handles(), note=note)
        for row in row_dicts(rows):
            _draw_row(sheet, sheet.centres[models.index(row["model"])], row)
        panel = sheet.panels[0]
        grid_lines(sheet, panel, _TICKS)
        for top, bottom in zip(sheet.tops, sheet.bottoms, strict=True):
            panel.vlines(chance, top, bottom, color=INK, lw=0.7, ls=(0, (2, 1.5)), zorder=4)
        panel.set_xlim(-0.01, 1.01)
        panel.set_xticks(_TICKS, [f"{tick:.0%}" for tick in _TICKS])
        panel.set_xlabel(f"accuracy ({'all benchmarks' if benchmark == POOLED else benchmark})")
        # The outer labels would be cut off if centred on the ends of the scale.
        panel.get_xticklabels()[0].set_horizontalalignment("left")
        panel.get_xticklabels()[-1].set_horizontalalignment("right")
    return sheet.figure


def _draw_row(sheet: Sheet, centre: float, row: dict[str, Any]) -> None:
    panel = sheet.panels[0]
    panel.barh(centre, row["max"] - row["min"], left=row["min"], height=6, color=SKY, lw=0)
    panel.plot(
        [row["reference_low"], row["reference_high"]], [centre, centre], color=INK, lw=1.0, zorder=5
    )
    panel.plot(row["reference"], centre, "o", color=INK, ms=3.2, mec="white", mew=0.4, zorder=6)
    for value, colour in ((row["robust"], VERMILLION), (row["optimistic"], BLUE)):
        panel.vlines(value, centre - 4.5, centre + 4.5, color=colour, lw=1.6, zorder=3)


def _handles() -> list[Artist]:
    tick: dict[str, Any] = {"marker": "|", "ls": "none", "ms": 7, "mew": 1.6}
    return [
        Patch(color=SKY, lw=0, label="range over configurations"),
        Line2D([], [], color=VERMILLION, label="right under all (robust)", **tick),
        Line2D([], [], color=INK, marker="o", ms=3.2, lw=1, label="reference, interval"),
        Line2D([], [], color=BLUE, label="right under any (optimistic)", **tick),
        Line2D([], [], color=INK, lw=0.7, ls=(0, (2, 1.5)), label="chance"),
    ]
