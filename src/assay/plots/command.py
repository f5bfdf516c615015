"""The command line that every figure's script shares."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from assay.core.errors import AssayError
from assay.plots.style import save
from assay.plots.tables import POOLED, read_table


def run_figure(
    draw: Callable[..., Figure],
    tables: Sequence[str],
    description: str,
    argv: Sequence[str] | None = None,
) -> int:
    """Parse the arguments, read `tables`, draw, and write PDF and PNG; return the exit status.

    `draw` is called with the tables in their order and the keywords `benchmark` and `note`.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tables", type=Path, required=True, help="folder of analysis tables")
    parser.add_argument("--pdf", type=Path, required=True, help="where the PDF goes")
    parser.add_argument("--png", type=Path, required=True, help="where the PNG goes")
    parser.add_argument("--benchmark", default=POOLED, help="default: %(default)s (pooled)")
    parser.add_argument("--note", help="a line at the bottom, such as 'synthetic data'")
    arguments = parser.parse_args(argv)
    try:
        frames: list[pd.DataFrame] = [read_table(arguments.tables, name) for name in tables]
        figure = draw(*frames, benchmark=arguments.benchmark, note=arguments.note)
        save(figure, pdf=arguments.pdf, png=arguments.png)
    except AssayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
