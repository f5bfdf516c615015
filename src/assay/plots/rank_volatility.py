"""Which place each model takes under each configuration."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from assay.plots.names import elide
from assay.plots.rows import Sheet, row_sheet
from assay.plots.style import GREY, INK, SMALL, WIDTH, paper_style, place_axes
from assay.plots.tables import POOLED, family, row_dicts, select

_LEFT = 6.0
_RANGE = 30.0  # room for "12–12" at the right of the strips
_MARK = 9.0
_FAMILY_GAP = 0.45  # in cells
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


def columns_by_family(
    accuracy: pd.DataFrame, configurations: list[str], benchmark: str
) -> tuple[list[str], list[float], list[tuple[str, float, float]]]:
    """Order the configurations by family; return them, their places and the families' spans."""
    wanted = ("configuration", "scoring", "format", "order")
    known = select(accuracy, "accuracy", wanted, benchmark=benchmark).drop_duplicates()
    known = known[known["configuration"].isin(configurations)]
    entries = [
        (family(row["scoring"], row["format"]), str(row["order"]), str(row["configuration"]))
        for row in row_dicts(known)
    ]
    seen = list(dict.fromkeys(entry[0] for entry in entries))
    entries.sort(key=lambda entry: (seen.index(entry[0]), entry[1], entry[2]))
    columns: list[str] = []
    places: list[float] = []
    families: list[tuple[str, float, float]] = []
    place = 0.0
    for name, members in groupby(entries, key=lambda entry: entry[0]):
        start = place
        for _, _, configuration in members:
            columns.append(configuration)
            places.append(place)
            place += 1
        families.append((name, start, place))
        place += _FAMILY_GAP
    return columns, places, families


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


def family_headings(
    sheet: Sheet, families: list[tuple[str, float, float]], *, room: float, side: float
) -> None:
    """Write each family's name above its cells; `room` and `side` are the panel's, in points."""
    panel = sheet.panels[0]
    unit = room / families[-1][2]
    for index, (name, start, end) in enumerate(families):
        last = index == len(families) - 1
        # The last heading may use the room above the range column.
        wide = (end - start) * unit + (side if last else _FAMILY_GAP * unit - 2.5)
        short = elide(name.replace("_", " "), wide, SMALL)
        panel.text(start, -2.5, short, va="bottom", ha="left", fontsize=SMALL, color=INK)
        panel.plot([start, end - 0.06], [-1.2, -1.2], color=INK, lw=0.6, clip_on=False)


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
