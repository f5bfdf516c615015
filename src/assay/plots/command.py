"""What the figures' scripts share: their arguments, and from tables to files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from assay.plots.style import save
from assay.plots.tables import POOLED, read_table


def figure_parser(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a figure's script."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tables", type=Path, required=True, help="folder of analysis tables")
    parser.add_argument("--pdf", type=Path, required=True, help="where the PDF goes")
    parser.add_argument("--png", type=Path, required=True, help="where the PNG goes")
    parser.add_argument("--benchmark", default=POOLED, help="default: %(default)s (pooled)")
    parser.add_argument("--note", help="a line at the bottom, such as 'synthetic data'")
    return parser


def make_figure(
    draw: Callable[..., Figure], tables: Sequence[str], arguments: argparse.Namespace
) -> list[Path]:
    """Read `tables`, draw, and write PDF and PNG; return the files.

    `draw` is called with the tables in their order and the keywords `benchmark` and `note`.
    """
    frames = [read_table(arguments.tables, name) for name in tables]
    figure = draw(*frames, benchmark=arguments.benchmark, note=arguments.note)
    save(figure, pdf=arguments.pdf, png=arguments.png)
    return [arguments.pdf, arguments.png]
