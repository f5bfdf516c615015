"""A figure with one plain panel: lines over a scale, a legend above."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from assay.plots.rows import draw_legend, write_note
from assay.plots.style import WIDTH, blank_figure, place_axes

_HEIGHT, _LEFT, _RIGHT, _BELOW, _LINE = 120.0, 32.0, 10.0, 28.0, 9.5


def ticks_within(low: float, high: float, count: int = 5) -> list[float]:
    """Return about `count` round numbers between two ends."""
    places = MaxNLocator(count).tick_values(low, high)
    return [float(place) for place in places if low <= place <= high]


def from_zero(panel: Axes, highest: float, label: str) -> None:
    """Scale the upright axis from 0 to `highest`."""
    panel.set_ylim(0, 1.05 * highest)
    panel.set_yticks(ticks_within(0, highest))
    panel.set_ylabel(label)


def curve_figure(
    handles: Sequence[Artist], *, legend_columns: int = 2, note: str | None = None
) -> tuple[Figure, Axes]:
    """Return a figure and its panel, with room for labels, legend and a note.

    Parameters
    ----------
    handles : sequence of Artist
        Legend entries, set in `legend_columns` columns above the panel.
    note : str, optional
        A line at the very bottom.
    """
    lines = -(-len(handles) // legend_columns)
    top = 5 + lines * _LINE + 3
    figure = blank_figure(top + _HEIGHT + _BELOW + (10 if note else 0))
    panel = place_axes(figure, _LEFT, top, WIDTH - _LEFT - _RIGHT, _HEIGHT)
    for side in ("right", "top"):
        panel.spines[side].set_visible(False)
    draw_legend(figure, handles, legend_columns)
    if note:
        write_note(figure, note)
    return figure, panel
