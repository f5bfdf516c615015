"""How far off a part of the grid would have been."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.plots.command import figure_parser, make_figure
from assay.plots.partial_grid_error import partial_grid_error


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Draw the figure."""
    return make_figure(partial_grid_error, ("partial_grid",), arguments)


if __name__ == "__main__":
    sys.exit(run_command(main, figure_parser(__doc__)))
