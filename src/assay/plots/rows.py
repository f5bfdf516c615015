"""Rows of a figure: a name on its own line, its marks beneath, a scale at the bottom.

A name above its marks may be as long as the column is wide, so that real model names are never
squeezed into a margin. Inside the axes one unit of y is one point, counted downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from assay.plots.names import fit_names
from assay.plots.style import GREY, PALE, SMALL, TEXT, WIDTH, blank_figure, place_axes

_MARGIN = 5.0
_NAME = 9.5
_GAP = 3.5
_SCALE = 24.0
_LEGEND_LINE = 9.5
_NOTE = 10.0


@dataclass(frozen=True)
class Sheet:
    """A figure of named rows, ready for its marks.

    Attributes
    ----------
    figure : Figure
    panels : tuple of Axes
        Side by side; all share the rows.
    centres, tops, bottoms : tuple of float
        Of each row's marks, in points below the panels' upper edge.
    """

    figure: Figure
    panels: tuple[Axes, ...]
    centres: tuple[float, ...]
    tops: tuple[float, ...]
    bottoms: tuple[float, ...]


def row_sheet(
    names: Sequence[str],
    *,
    mark_height: float,
    handles: Sequence[Artist] = (),
    legend_columns: int = 2,
    panels: Sequence[tuple[float, float]] = ((_MARGIN + 1, WIDTH - 2 * _MARGIN - 2),),
    heading: float = 0.0,
    scale: float = _SCALE,
    note: str | None = None,
) -> Sheet:
    """Return a figure with one row for each of `names` and room for `mark_height` points of marks.

    Parameters
    ----------
    names : sequence of str
        One line above each row, cut in the middle where it is wider than the figure.
    handles : sequence of Artist
        Legend entries, set in `legend_columns` columns at the top.
    panels : sequence of (float, float)
        Left edge and width of each panel, in points.
    heading, scale : float
        Room above the first row (column headings) and below the last (tick labels, axis label).
    note : str, optional
        A line at the very bottom, such as what synthetic data the figure shows.
    """
    lines = -(-len(handles) // legend_columns)
    pitch = _NAME + mark_height + _GAP
    top = _MARGIN + lines * _LEGEND_LINE + (3.0 if lines else 0.0) + heading
    body = pitch * len(names) - _GAP + 2.0
    figure = blank_figure(top + body + scale + (_NOTE if note else 0.0) + _MARGIN / 2)
    axes = tuple(place_axes(figure, left, top, width, body) for left, width in panels)
    for panel in axes:
        _clear(panel, body)
    tops = tuple(index * pitch + _NAME for index in range(len(names)))
    _write_names(axes[0], names, tops)
    if handles:
        draw_legend(figure, handles, legend_columns)
    if note:
        write_note(figure, note)
    return Sheet(
        figure=figure,
        panels=axes,
        centres=tuple(value + mark_height / 2 for value in tops),
        tops=tops,
        bottoms=tuple(value + mark_height for value in tops),
    )


def message_figure(message: str, *, note: str | None = None) -> Figure:
    """Return a small figure that says why there is nothing to draw."""
    figure = blank_figure(48)
    figure.text(0.5, 0.6, message, ha="center", va="center", fontsize=TEXT, color=GREY)
    if note:
        write_note(figure, note)
    return figure


def grid_lines(sheet: Sheet, panel: Axes, values: Sequence[float]) -> None:
    """Draw pale vertical lines at `values` behind the marks of each row, not behind the names."""
    for top, bottom in zip(sheet.tops, sheet.bottoms, strict=True):
        panel.vlines(values, top, bottom, color=PALE, linewidth=0.5, zorder=0)


def _clear(panel: Axes, height: float) -> None:
    panel.set_ylim(height, 0)
    panel.set_facecolor("none")  # names reach over the panels to the right
    panel.set_yticks([])
    for side in ("left", "right", "top"):
        panel.spines[side].set_visible(False)


def _write_names(panel: Axes, names: Sequence[str], tops: Sequence[float]) -> None:
    shown = fit_names(names, WIDTH - 2 * _MARGIN - 4, TEXT)
    place = panel.get_yaxis_transform()  # x: fraction of the panel, y: points
    for name, top in zip(shown, tops, strict=True):
        panel.text(0, top - 3.0, name, transform=place, va="baseline", ha="left", fontsize=TEXT)


def draw_legend(figure: Figure, handles: Sequence[Artist], columns: int) -> None:
    """Set a legend in the upper left corner."""
    full = figure.get_figheight() * 72
    figure.legend(
        handles=list(handles),
        loc="upper left",
        bbox_to_anchor=(_MARGIN / WIDTH, 1 - 2.5 / full),
        ncols=columns,
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        handlelength=1.8,
        handletextpad=0.5,
        columnspacing=1.0,
        labelspacing=0.35,
    )


def write_note(figure: Figure, note: str) -> None:
    """Write a line at the very bottom, cut in the middle where it is too wide."""
    full = figure.get_figheight() * 72
    text = fit_names([note], WIDTH - 2 * _MARGIN, SMALL)[0]
    figure.text(
        1 - _MARGIN / WIDTH,
        3.5 / full,
        text,
        ha="right",
        va="bottom",
        fontsize=SMALL,
        style="italic",
        color=GREY,
    )
