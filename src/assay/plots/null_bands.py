"""Headlines of the grid beside what shuffling one axis gives."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from assay.plots.rows import message_figure, row_sheet
from assay.plots.style import GREY, PALE, SMALL, VERMILLION, WIDTH, paper_style
from assay.plots.tables import POOLED, row_dicts, select

_TITLES = {
    "champions": "champions",
    "largest_move": "largest move",
    "smallest_tau": "smallest τ",
    "accuracy_range": "range, points",
}
_LEFT, _GAP = 8.0, 14.0


def null_bands(
    permutations: pd.DataFrame, *, benchmark: str = POOLED, note: str | None = None
) -> Figure:
    """Draw, for each axis, four headlines and the band that shuffling the axis's levels gives.

    Parameters
    ----------
    permutations : DataFrame
        The analysis table of this name.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.

    Returns
    -------
    Figure
        Grey: 95 % of the shuffles, a tick at their mean; the dot is what was observed.
    """
    columns = ("axis", "headline", "value", "null", "low", "high")
    table = select(permutations, "permutations", columns, benchmark=benchmark)
    table = table[table["value"].notna() & table["low"].notna()]
    if table.empty:
        return message_figure("no axis has levels to shuffle", note=note)
    scale = table["headline"].map(lambda name: 100.0 if name == "accuracy_range" else 1.0)
    for name in ("value", "null", "low", "high"):
        table[name] = table[name] * scale
    axes = list(dict.fromkeys(table["axis"]))
    shown = [name for name in _TITLES if name in set(table["headline"])]
    width = (WIDTH - 2 * _LEFT - _GAP * (len(shown) - 1)) / len(shown)
    handles = [
        Patch(color=PALE, label="95 % of shuffles"),
        Line2D([], [], color=GREY, marker="|", ls="none", ms=6, label="their mean"),
        Line2D([], [], color=VERMILLION, marker="o", ls="none", ms=3.6, label="observed"),
    ]
    with paper_style():
        sheet = row_sheet(
            [f"{axis} shuffled" for axis in axes],
            mark_height=7,
            handles=handles,
            legend_columns=3,
            panels=[(_LEFT + k * (width + _GAP), width) for k in range(len(shown))],
            note=note,
        )
        for panel, headline in zip(sheet.panels, shown, strict=True):
            rows = table[table["headline"] == headline]
            for row in row_dicts(rows):
                _band(panel, sheet.centres[axes.index(row["axis"])], row)
            _scale(panel, rows)
            panel.set_xlabel(_TITLES[headline], fontsize=SMALL)
    return sheet.figure


def _band(panel: Axes, centre: float, row: dict[str, Any]) -> None:
    low, high = row["low"], row["high"]
    panel.barh(centre, high - low, left=low, height=5, color=PALE, lw=0, zorder=1)
    if low == high:
        panel.plot([low, low], [centre - 2.5, centre + 2.5], color=PALE, lw=2.5, zorder=1)
    panel.plot([row["null"]] * 2, [centre - 2.5, centre + 2.5], color=GREY, lw=0.8, zorder=2)
    panel.plot(row["value"], centre, "o", color=VERMILLION, ms=3.2, mew=0, zorder=3)


def _scale(panel: Axes, rows: pd.DataFrame) -> None:
    drawn = rows[["value", "low", "high"]].to_numpy(float)
    low, high = float(drawn.min()), float(drawn.max())
    room = 0.08 * (high - low) or 0.5
    panel.set_xlim(low - room, high + room)
    ends = [low, high] if high > low else [low]
    panel.set_xticks(ends, [f"{end:.3g}" for end in ends])
