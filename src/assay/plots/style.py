"""What every paper figure shares: size, type, colours, and files with the same bytes each time.

Sizes are in points (1/72 in). Figures are one column wide (3.35 in) and are meant to be printed at
that size, so no text is smaller than 6.5 pt.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from assay.core.files import atomic_path

#: Width of one column of a paper, in points.
WIDTH = 3.35 * 72
#: Text sizes, in points.
TEXT = 7.0
SMALL = 6.5

#: Okabe and Ito's palette, told apart with any common colour vision (Nature Methods 8, 441, 2011).
INK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#6E6E6E"
PALE = "#D9D9D9"

_RC: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same glyphs on every machine
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "axes.labelpad": 2.0,
    "pdf.fonttype": 42,  # text stays text, so that a publisher's check passes
    "svg.hashsalt": "assay",
    "text.parse_math": False,  # a model called "a$b$" is not a formula
}


@contextmanager
def paper_style() -> Iterator[None]:
    """Apply the type and line settings of this project's figures inside the block."""
    with mpl.rc_context(_RC):
        yield


def blank_figure(height: float) -> Figure:
    """Return an empty figure, one column wide and `height` points high."""
    return Figure(figsize=(WIDTH / 72, height / 72), dpi=300)


def place_axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes at a place given in points from the figure's upper left corner."""
    full = figure.get_figheight() * 72
    return figure.add_axes((left / WIDTH, 1 - (top + height) / full, width / WIDTH, height / full))


def save(figure: Figure, *, pdf: Path, png: Path) -> None:
    """Write `figure` as PDF and PNG (300 dpi), whole or not at all, without any date in them."""
    with mpl.rc_context(_RC):
        with atomic_path(pdf) as path:
            figure.savefig(path, format="pdf", metadata={"CreationDate": None})
        with atomic_path(png) as path:
            figure.savefig(path, format="png", dpi=300, metadata={"Software": None})
