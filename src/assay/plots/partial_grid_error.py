"""What a part of the grid would have told, and how far off it would have been."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from assay.plots.curves import curve_figure, from_zero
from assay.plots.rows import message_figure
from assay.plots.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, paper_style
from assay.plots.tables import POOLED, select

_COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY)
_MARKERS = "osD^v<"


def partial_grid_error(
    partial_grid: pd.DataFrame, *, benchmark: str = POOLED, note: str | None = None
) -> Figure:
    """Draw the mean error of quantiles of accuracy over configurations, by budget.

    Parameters
    ----------
    partial_grid : DataFrame
        The analysis table of this name; it has pooled rows only.
    benchmark : str
        Which rows to draw.
    note : str, optional
        A line at the bottom of the figure.

    Returns
    -------
    Figure
        Full lines borrow from other models and items, broken ones are plain means of the answers
        that were kept.
    """
    columns = ("budget", "quantile", "error", "naive_error")
    table = select(partial_grid, "partial_grid", columns, benchmark=benchmark)
    table = table[table["error"].notna()]
    if table.empty:
        return message_figure("no part of this grid can be judged", note=note)
    quantiles = sorted(table["quantile"].unique())
    styles = {
        q: (_COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)])
        for k, q in enumerate(quantiles)
    }
    handles = [
        Line2D([], [], color=colour, marker=marker, ms=3.4, lw=1.0, label=f"{100 * q:g} % quantile")
        for q, (colour, marker) in styles.items()
    ]
    handles.append(Line2D([], [], color="black", ls=(0, (2, 2)), lw=0.8, label="plain means"))
    with paper_style():
        figure, panel = curve_figure(handles, note=note)
        for q, rows in table.sort_values("budget").groupby("quantile"):
            colour, marker = styles[q]
            x = 100 * rows["budget"]
            panel.plot(x, 100 * rows["naive_error"], color=colour, ls=(0, (2, 2)), lw=0.8)
            panel.plot(x, 100 * rows["error"], color=colour, marker=marker, ms=3.4, mew=0, lw=1.0)
        budgets = sorted(100 * table["budget"].unique())
        panel.set_xscale("log")
        panel.minorticks_off()
        panel.set_xticks(budgets, [f"{budget:g} %" for budget in budgets])
        panel.set_xlabel("share of the grid's cells that was asked")
        highest = 100 * float(np.nanmax(table[["error", "naive_error"]].to_numpy(float)))
        from_zero(panel, highest, "mean error, points")
    return figure
