"""Whether a few items rank models as all of them do, judged on models held out."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from assay.plots.rows import grid_lines, message_figure, row_sheet
from assay.plots.style import BLUE, GREY, SMALL, WIDTH, paper_style
from assay.plots.tables import POOLED, row_dicts, select

_LEFT, _SIDE = 6.0, 64.0
_TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def compression(table: pd.DataFrame, *, benchmark: str = POOLED, note: str | None = None) -> Figure:
    """Draw, for each rule of choosing items, the share of held-out pairs ranked right.

    Parameters
    ----------
    table : DataFrame
        The analysis table ``compression``.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.

    Returns
    -------
    Figure
        From one half, which is chance; at the right the smallest gap that is right 80 % of the
        time. Descriptive: no interval holds for a few families of models.
    """
    columns = ("rule", "k", "n", "share_right", "smallest_gap")
    chosen = select(table, "compression", columns, benchmark=benchmark)
    chosen = chosen[chosen["share_right"].notna()]
    if chosen.empty:
        return message_figure("too few models or items to hold some out", note=note)
    rows = row_dicts(chosen)
    k, n = int(rows[0]["k"]), int(rows[0]["n"])
    with paper_style():
        sheet = row_sheet(
            [f"{row['rule']} items" for row in rows],
            mark_height=6,
            panels=((_LEFT, WIDTH - 2 * _LEFT - _SIDE),),
            note=note,
        )
        panel = sheet.panels[0]
        for centre, row in zip(sheet.centres, rows, strict=True):
            panel.hlines(centre, 0.5, row["share_right"], color=GREY, lw=1.2)
            panel.plot(row["share_right"], centre, "o", color=BLUE, ms=3.6, mew=0)
            panel.text(
                1.03,
                centre,
                _gap(row["smallest_gap"]),
                transform=panel.get_yaxis_transform(),
                va="center",
                ha="left",
                fontsize=SMALL,
            )
        low = min(0.5, float(chosen["share_right"].min()))
        panel.set_xlim(low - 0.02, 1.0)
        panel.set_xticks(_TICKS, [f"{100 * tick:.0f} %" for tick in _TICKS])
        panel.get_xticklabels()[-1].set_horizontalalignment("right")
        panel.set_xlabel(f"held-out pairs that {k} of {n:,} items rank right")
        grid_lines(sheet, panel, _TICKS)
    return sheet.figure


def _gap(gap: float) -> str:
    return "80 %: no gap" if np.isnan(gap) else f"80 %: {100 * gap:.1f} points"
