"""Which place each model takes under each configuration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from assay.plots.families import columns_by_family, family_headings
from assay.plots.rows import Sheet, row_sheet
from assay.plots.style import GREY, SMALL, WIDTH, paper_style, place_axes
from assay.plots.tables import POOLED, select

_LEFT = 6.0
_RANGE = 30.0  # room for "12–12" at the right of the strips
_MARK = 9.0
_KEY = 26.0


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
            mark_height=_MARK,
            panels=((_LEFT, WIDTH - 2 * _LEFT - _RANGE),),
            heading=11,
            scale=_KEY,
            note=note,
        )
        _draw_strips(sheet, grid.to_numpy(dtype=float), places)
        family_headings(sheet, families, room=WIDTH - 2 * _LEFT - _RANGE, side=_RANGE)
        _key(sheet, len(order), note is not None)
    return sheet.figure


def _draw_strips(sheet: Sheet, grid: np.ndarray, places: list[float]) -> None:
    panel = sheet.panels[0]
    panel.set_xlim(0, places[-1] + 1)
    panel.set_xticks([])
    panel.spines["bottom"].set_visible(False)
    shade = Normalize(1, max(2, grid.shape[0]))
    for row, top in enumerate(sheet.tops):
        for rank, place in zip(grid[row], places, strict=True):
            _cell(panel, rank, place, top, shade)
        present = grid[row][~np.isnan(grid[row])]
        panel.text(
            1.02,
            sheet.centres[row],
            _range_text(present),
            transform=panel.get_yaxis_transform(),
            va="center",
            ha="left",
            fontsize=SMALL,
        )


def _cell(panel: Axes, rank: float, place: float, top: float, shade: Normalize) -> None:
    if np.isnan(rank):
        panel.plot([place + 0.3, place + 0.7], [top + _MARK / 2] * 2, color=GREY, lw=0.6)
        return
    colour = colormaps["cividis"](shade(rank))
    panel.add_patch(Rectangle((place, top), 0.94, _MARK, facecolor=colour, lw=0))
    if rank == 1:
        panel.plot(place + 0.47, top + _MARK / 2, "o", ms=2.2, mfc="white", mec="white")


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
