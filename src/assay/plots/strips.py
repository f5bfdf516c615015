"""Strips of shaded cells: a row for each model, a cell for each configuration or place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from assay.plots.rows import Sheet
from assay.plots.style import GREY, SMALL, WIDTH, place_axes

#: Height of a strip, and room for the key beneath the strips, in points.
MARK, KEY = 9.0, 26.0
LEFT, SIDE = 6.0, 34.0
#: The panel of the strips; text stands at their right.
PANEL = ((LEFT, WIDTH - 2 * LEFT - SIDE),)
#: Shades from nothing to much.
COLOURS = "Blues"

Colour = tuple[float, float, float, float]


def draw_strips(
    sheet: Sheet,
    values: NDArray[np.float64],
    places: Sequence[float],
    *,
    shade: Normalize,
    colours: str = COLOURS,
    texts: Sequence[str],
) -> None:
    """Shade a cell for each value; a missing one is left open, with a dash.

    Parameters
    ----------
    values : ndarray of float, shape (row, cell)
    places : sequence of float
        Left edge of each cell, in cells.
    shade : Normalize
        Value → place on the scale of colours.
    colours : str
        Name of the scale, of matplotlib.
    texts : sequence of str
        One at the right of each row.
    """
    panel = sheet.panels[0]
    panel.set_xlim(0, places[-1] + 1)
    panel.set_xticks([])
    panel.spines["bottom"].set_visible(False)
    for row, top in enumerate(sheet.tops):
        for value, place in zip(values[row], places, strict=True):
            _cell(panel, float(value), place, top, colormaps[colours](shade(float(value))))
        panel.text(
            1.02,
            sheet.centres[row],
            texts[row],
            transform=panel.get_yaxis_transform(),
            va="center",
            ha="left",
            fontsize=SMALL,
        )


def _cell(panel: Axes, value: float, place: float, top: float, colour: Colour) -> None:
    if np.isnan(value):
        panel.plot([place + 0.3, place + 0.7], [top + MARK / 2] * 2, color=GREY, lw=0.6)
        return
    panel.add_patch(Rectangle((place, top), 0.94, MARK, facecolor=colour, lw=0))


def draw_key(sheet: Sheet, *, highest: float, title: str, noted: bool) -> None:
    """Draw the scale of the shades beneath the strips, from 0 to `highest` in percent."""
    full = sheet.figure.get_figheight() * 72
    key = place_axes(sheet.figure, WIDTH / 2 - 20, full - 21 - (10 if noted else 0), 90, 5)
    key.imshow(
        np.linspace(0, 1, 64)[None, :], aspect="auto", cmap=COLOURS, extent=(0, highest, 0, 1)
    )
    key.set_yticks([])
    ticks = (0.0, highest / 2, highest)
    key.set_xticks(ticks, [f"{100 * tick:.3g} %" for tick in ticks])
    key.spines[:].set_visible(False)
    text: dict[str, Any] = {"va": "center", "fontsize": SMALL, "transform": key.transAxes}
    key.text(-0.05, 0.5, title, ha="right", **text)
