"""How probable each rank of each model is, were other items like these asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from assay.plots.rows import message_figure, row_sheet
from assay.plots.strips import KEY, MARK, PANEL, draw_key, draw_strips
from assay.plots.style import INK, SMALL, VERMILLION, paper_style
from assay.plots.tables import POOLED, select

_BRACKET = 5.0


def rank_distribution(
    rank_probability: pd.DataFrame, *, benchmark: str = POOLED, note: str | None = None
) -> Figure:
    """Draw, per model, the probability of each rank and the confidence set of its rank.

    Parameters
    ----------
    rank_probability : DataFrame
        The analysis table of this name.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.

    Returns
    -------
    Figure
        A cell a rank, darker for a more probable one; the line beneath spans the confidence set,
        its dot is the observed rank, and both stand at the right.
    """
    columns = ("model", "rank", "probability", "observed_rank", "low", "high")
    table = select(rank_probability, "rank_probability", columns, benchmark=benchmark)
    if table.empty:
        return message_figure("one model has no rank", note=note)
    models = table.drop_duplicates("model").sort_values(["observed_rank", "model"])
    names = [str(name) for name in models["model"]]
    grid = table.pivot(index="model", columns="rank", values="probability")
    values = grid.reindex(index=names, columns=range(1, len(names) + 1), fill_value=0.0)
    highest = float(np.nanmax(values.to_numpy(float)))
    sets = list(zip(models["observed_rank"], models["low"], models["high"], strict=True))
    with paper_style():
        sheet = row_sheet(
            names,
            mark_height=MARK + _BRACKET,
            panels=PANEL,
            heading=11,
            scale=KEY,
            note=note,
        )
        draw_strips(
            sheet,
            values.fillna(0.0).to_numpy(float),
            [float(k) for k in range(len(names))],
            shade=Normalize(0, highest),
            texts=[f"{seen} ({low}–{high})" for seen, low, high in sets],
        )
        panel = sheet.panels[0]
        for top, (seen, low, high) in zip(sheet.tops, sets, strict=True):
            y = top + MARK + _BRACKET / 2
            panel.plot([low - 1, high - 0.06], [y, y], color=INK, lw=0.8)
            panel.plot(seen - 0.53, y, "o", color=VERMILLION, ms=2.6, mew=0)
        ends = {0: "1", len(names) - 1: str(len(names))}
        for place, text in ends.items():
            panel.text(place + 0.47, -1.5, text, va="bottom", ha="center", fontsize=SMALL)
        draw_key(sheet, highest=highest, title="probability of the rank", noted=note is not None)
    return sheet.figure
