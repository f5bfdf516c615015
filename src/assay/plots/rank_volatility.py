"""Which place each model takes under each configuration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from assay.plots.families import columns_by_family, family_headings
from assay.plots.rows import Sheet, row_sheet
from assay.plots.strips import KEY, MARK, draw_strips
from assay.plots.style import SMALL, WIDTH, paper_style, place_axes
from assay.plots.tables import POOLED, select

_LEFT = 6.0
_RANGE = 30.0  # room for "12–12" at the right of the strips


def rank_volatility(
    ranks: pd.DataFrame,
    accuracy: pd.DataFrame,
    *,
    benchmark: str = POOLED,
    note: str | None = None,
) -> Figure:
    """Draw, per model, its rank under every configuration, grouped by family.

    Parameters
    ----------
    ranks, accuracy : DataFrame
        The analysis tables of these names; `accuracy` gives each configuration's scoring, format
        and order.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.

    Returns
    -------
    Figure
        A cell per configuration, darker for a better rank; a dot marks rank 1; at the right the
        best and the worst rank. Models from the best mean rank to the worst.
    """
    table = select(ranks, "ranks", ("configuration", "model", "rank"), benchmark=benchmark)
    grid = table.pivot(index="model", columns="configuration", values="rank")
    order = sorted(grid.index, key=lambda model: (grid.loc[model].mean(), model))
    columns, places, families = columns_by_family(accuracy, list(grid.columns), benchmark)
    grid = grid.loc[order, columns]
    with paper_style():
        sheet = row_sheet(
            [str(model) for model in order],
            mark_height=MARK,
            panels=((_LEFT, WIDTH - 2 * _LEFT - _RANGE),),
            heading=11,
            scale=KEY,
            note=note,
        )
        values = grid.to_numpy(dtype=float)
        draw_strips(
            sheet,
            values,
            places,
            shade=Normalize(1, max(2, len(order))),
            colours="cividis",
            texts=[_range_text(row[~np.isnan(row)]) for row in values],
        )
        _mark_first(sheet, values, places)
        family_headings(sheet, families, room=WIDTH - 2 * _LEFT - _RANGE, side=_RANGE)
        _key(sheet, len(order), note is not None)
    return sheet.figure


def _mark_first(sheet: Sheet, values: np.ndarray, places: list[float]) -> None:
    for top, row in zip(sheet.tops, values, strict=True):
        for rank, place in zip(row, places, strict=True):
            if rank == 1:
                x, y = place + 0.47, top + MARK / 2
                sheet.panels[0].plot(x, y, "o", ms=2.2, mfc="white", mec="white")


def _range_text(present: np.ndarray) -> str:
    if not present.size:
        return "–"
    low, high = present.min(), present.max()
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def _key(sheet: Sheet, models: int, noted: bool) -> None:
    """Draw the scale of ranks beneath the strips."""
    full = sheet.figure.get_figheight() * 72
    top = full - 21 - (10 if noted else 0)
    key = place_axes(sheet.figure, WIDTH / 2 - 45, top, 90, 5)
    key.imshow(
        np.arange(1, models + 1)[None, :],
        aspect="auto",
        cmap="cividis",
        norm=Normalize(1, max(2, models)),
        extent=(0.5, models + 0.5, 0, 1),
    )
    key.set_yticks([])
    key.set_xticks(sorted({1, (models + 1) // 2, models}))
    key.spines[:].set_visible(False)
    text: dict[str, Any] = {"va": "center", "fontsize": SMALL, "transform": key.transAxes}
    key.text(-0.05, 0.5, "rank", ha="right", **text)
    key.text(1.05, 0.5, "dot: rank 1", ha="left", **text)
