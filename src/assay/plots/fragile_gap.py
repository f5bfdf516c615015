"""What the gap between neighbours on the leaderboard is made of."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from assay.plots.names import elide, text_width
from assay.plots.rows import Sheet, grid_lines, message_figure, row_sheet
from assay.plots.style import BLUE, GREY, INK, ORANGE, PALE, TEXT, WIDTH, paper_style
from assay.plots.tables import POOLED, row_dicts, select

_COLUMNS = (
    "better",
    "worse",
    "adjacent",
    "gap",
    "low",
    "high",
    "gap_fragile",
    "gap_robust",
    "fragile_share_of_gap",
    "fragile_item_share",
    "twin_fragile_share",
)
_LEFT = (8.0, 126.0)
_RIGHT = (150.0, 84.0)
_SHARE_TICKS = (0.0, 0.5, 1.0)
#: Shares beyond these are drawn at the edge with an arrow: parts of opposite sign have no bound.
_SHARE_LIMITS = (-0.2, 1.2)


def fragile_gap(pairs: pd.DataFrame, *, benchmark: str = POOLED, note: str | None = None) -> Figure:
    """Draw, per adjacent pair, the gap split into fragile and robust items.

    Parameters
    ----------
    pairs : DataFrame
        The analysis table of this name; only its adjacent pairs are drawn.
    benchmark : str
        Which rows to draw, where the table has a column of this name.
    note : str, optional
        A line at the bottom of the figure.

    Returns
    -------
    Figure
        Left: points of accuracy on fragile and on robust items, the whole gap with its interval.
        Right: share of the gap on fragile items beside the share of items that are fragile and
        the share in a twin without any interaction of model and configuration.
    """
    if "benchmark" in pairs.columns:
        pairs = pairs[pairs["benchmark"] == benchmark]
    rows = select(pairs, "pairs", _COLUMNS)
    rows = rows[rows["adjacent"].astype(bool)].reset_index(drop=True)
    with paper_style():
        if rows.empty:
            return message_figure("One model: no pair to compare.", note=note)
        sheet = row_sheet(
            _pair_names(rows),
            mark_height=9,
            handles=_handles(),
            panels=(_LEFT, _RIGHT),
            note=note,
        )
        for centre, row in zip(sheet.centres, row_dicts(rows), strict=True):
            _draw_gap(sheet.panels[0], centre, row)
            _draw_shares(sheet.panels[1], centre, row)
        _scales(sheet, rows)
    return sheet.figure


def _pair_names(rows: pd.DataFrame) -> list[str]:
    joint = " over "
    room = WIDTH - 16 - text_width(joint, TEXT)
    names = []
    for better, worse in zip(rows["better"], rows["worse"], strict=True):
        # A short partner leaves its room to the long one.
        first = max(room / 2, room - text_width(str(worse), TEXT))
        second = max(room / 2, room - text_width(str(better), TEXT))
        names.append(elide(str(better), first, TEXT) + joint + elide(str(worse), second, TEXT))
    return names


def _draw_gap(panel: Axes, centre: float, row: dict[str, Any]) -> None:
    ends = {1: 0.0, -1: 0.0}
    for column, colour in (("gap_fragile", ORANGE), ("gap_robust", BLUE)):
        value = float(row[column])
        side = 1 if value >= 0 else -1
        panel.barh(centre, value, left=ends[side], height=6, color=colour, lw=0, zorder=2)
        ends[side] += value
    panel.plot([row["low"], row["high"]], [centre, centre], color=INK, lw=0.8, zorder=4)
    panel.plot(row["gap"], centre, "|", color=INK, ms=8, mew=1.4, zorder=5)


def _draw_shares(panel: Axes, centre: float, row: dict[str, Any]) -> None:
    panel.hlines(centre, 0, 1, color=PALE, lw=0.8, zorder=1)
    item_share = row["fragile_item_share"]
    panel.vlines(item_share, centre - 4.2, centre + 4.2, color=GREY, lw=1.6, zorder=2)
    _draw_share(panel, row["twin_fragile_share"], centre, marker="D", mfc="white", mec=INK, ms=4.4)
    _draw_share(panel, row["fragile_share_of_gap"], centre, marker="o", mfc=ORANGE, mec=INK, ms=3.4)


def _draw_share(
    panel: Axes, value: float, centre: float, *, marker: str, mfc: str, mec: str, ms: float
) -> None:
    if math.isnan(value):  # a gap of zero has no shares
        return
    low, high = _SHARE_LIMITS
    marker = "<" if value < low else ">" if value > high else marker
    place = min(max(value, low), high)
    panel.plot(place, centre, marker, mfc=mfc, mec=mec, mew=0.6, ms=ms, zorder=4, clip_on=False)


def _scales(sheet: Sheet, rows: pd.DataFrame) -> None:
    gap, share = sheet.panels
    values = rows[["gap", "low", "high", "gap_fragile", "gap_robust"]].to_numpy(dtype=float)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.06 * (high - low or 1.0)
    gap.set_xlim(low - room, high + room)
    ticks = [
        tick
        for tick in MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(low, high)
        if low - room <= tick <= high + room
    ]
    gap.set_xticks(ticks, [_points(tick) for tick in ticks])
    gap.set_xlabel("gap, points")
    for top, bottom in zip(sheet.tops, sheet.bottoms, strict=True):
        gap.vlines(0, top, bottom, color=INK, lw=0.5, zorder=1)
    share.set_xlim(_SHARE_LIMITS[0] - 0.05, _SHARE_LIMITS[1] + 0.05)
    share.set_xticks(_SHARE_TICKS, [f"{tick:.0%}" for tick in _SHARE_TICKS])
    share.set_xlabel("share on fragile items")
    grid_lines(sheet, gap, ticks)
    grid_lines(sheet, share, _SHARE_TICKS)


def _points(value: float) -> str:
    return f"{100 * value:+.0f}".replace("-", "−") if value else "0"


def _handles() -> list[Artist]:
    dot: dict[str, Any] = {"ls": "none", "mec": INK, "mew": 0.6}
    return [
        Patch(color=ORANGE, lw=0, label="gap on fragile items"),
        Patch(color=BLUE, lw=0, label="gap on robust items"),
        Line2D([], [], color=INK, lw=0.8, marker="|", ms=7, mew=1.4, label="whole gap, interval"),
        Line2D([], [], marker=">", mfc="white", ms=3.4, label="off the scale", **dot),
        Line2D([], [], marker="o", mfc=ORANGE, ms=3.4, label="share of the gap", **dot),
        Line2D([], [], marker="D", mfc="white", ms=4.4, label="share of the twin's gap", **dot),
        Line2D([], [], marker="|", color=GREY, ls="none", ms=7, mew=1.6, label="share of items"),
    ]
