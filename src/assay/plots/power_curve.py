"""Which gap between two models so many items can show."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from assay.plots.curves import curve_figure, from_zero
from assay.plots.rows import message_figure
from assay.plots.style import BLUE, GREY, ORANGE, PALE, VERMILLION, paper_style
from assay.plots.tables import POOLED, select

_COLOURS = {"low": BLUE, "median": "black", "high": ORANGE}
_WORDS = {"low": "quarter", "median": "half", "high": "three quarters"}


def power_curve(
    power: pd.DataFrame, pairs: pd.DataFrame, *, benchmark: str = POOLED, note: str | None = None
) -> Figure:
    """Draw the smallest gap that is found with 80 % power, by the number of items.

    Parameters
    ----------
    power, pairs : DataFrame
        The analysis tables of these names; of `pairs` the adjacent ones are drawn, at their gap
        and number of items, with the gap's interval.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.
    """
    columns = ("discordance_kind", "discordance", "n", "effect")
    table = select(power, "power", columns, benchmark=benchmark)
    table = table[table["effect"].notna()]
    if table.empty:
        return message_figure("one model has no gap", note=note)
    gaps = select(pairs, "pairs", ("adjacent", "n", "gap", "low", "high"), benchmark=benchmark)
    gaps = gaps[gaps["adjacent"].astype(bool)]
    kinds = [kind for kind in _COLOURS if kind in set(table["discordance_kind"])]
    handles = []
    with paper_style():
        for kind in kinds:
            share = float(table[table["discordance_kind"] == kind]["discordance"].iloc[0])
            label = f"{100 * share:.0f} % discordant ({_WORDS[kind]})"
            handles.append(Line2D([], [], color=_COLOURS[kind], lw=1.0, label=label))
        handles.append(
            Line2D([], [], color=VERMILLION, marker="o", ls="none", ms=3.2, label="adjacent gaps")
        )
        figure, panel = curve_figure(handles, note=note)
        for kind in kinds:
            rows = table[table["discordance_kind"] == kind].sort_values("n")
            panel.plot(rows["n"], 100 * rows["effect"], color=_COLOURS[kind], lw=1.0)
        panel.plot(gaps["n"], 100 * gaps["gap"], "o", color=VERMILLION, ms=2.8, mew=0, alpha=0.8)
        panel.vlines(
            gaps["n"], 100 * gaps["low"].clip(lower=0), 100 * gaps["high"], color=PALE, lw=0.8
        )
        panel.set_xscale("log")
        panel.minorticks_off()
        sizes = sorted(table["n"].unique())
        ticks = [sizes[0], sizes[len(sizes) // 2], sizes[-1]]
        panel.set_xticks(ticks, [f"{int(tick):,}" for tick in ticks])
        panel.set_xlabel("items")
        highest = 100 * float(pd.concat([table["effect"], gaps["gap"]]).max())
        from_zero(panel, highest, "gap found, points")
        panel.grid(axis="y", color=GREY, lw=0.3, alpha=0.4)
    return figure
