"""Where the variance of right and wrong answers lies."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from assay.plots.curves import ticks_within
from assay.plots.rows import grid_lines, message_figure, row_sheet
from assay.plots.style import BLUE, GREY, SMALL, WIDTH, paper_style
from assay.plots.tables import POOLED, row_dicts, select

_LEFT, _SIDE = 6.0, 30.0


def variance_components(
    variance: pd.DataFrame, *, benchmark: str = POOLED, note: str | None = None
) -> Figure:
    """Draw each component of variance with its interval, and its share at the right.

    Parameters
    ----------
    variance : DataFrame
        The analysis table of this name; components that the data do not hold are left out.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.
    """
    columns = ("component", "estimate", "low", "high", "share")
    table = select(variance, "variance", columns, benchmark=benchmark)
    table = table[table["estimate"].notna()]
    if table.empty:
        return message_figure("too few complete items to split the variance", note=note)
    rows = row_dicts(table)
    with paper_style():
        sheet = row_sheet(
            [str(row["component"]).replace(" x ", " × ") for row in rows],
            mark_height=6,
            panels=((_LEFT, WIDTH - 2 * _LEFT - _SIDE),),
            note=note,
        )
        panel = sheet.panels[0]
        for centre, row in zip(sheet.centres, rows, strict=True):
            if not np.isnan(row["low"]):  # too few items have no interval
                panel.hlines(centre, row["low"], row["high"], color=GREY, lw=1.2)
            panel.plot(row["estimate"], centre, "o", color=BLUE, ms=3.6, mew=0)
            panel.text(
                1.02,
                centre,
                "–" if np.isnan(row["share"]) else f"{100 * row['share']:.1f} %",
                transform=panel.get_yaxis_transform(),
                va="center",
                ha="left",
                fontsize=SMALL,
            )
        drawn = table[["estimate", "low", "high"]].to_numpy(float)
        low, high = min(0.0, float(np.nanmin(drawn))), max(0.0, float(np.nanmax(drawn)))
        room = (high - low) or 1.0
        panel.set_xlim(low - 0.04 * room, high + 0.05 * room)
        panel.set_xticks(ticks_within(low, high))
        panel.set_xlabel("variance of an outcome; its share at the right")
        grid_lines(sheet, panel, [0.0])
    return sheet.figure
