"""Headlines of the grid beside what shuffling one axis gives."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.plots.command import figure_parser, make_figure
from assay.plots.null_bands import null_bands


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Draw the figure."""
    return make_figure(null_bands, ("permutations",), arguments)


if __name__ == "__main__":
    sys.exit(run_command(main, figure_parser(__doc__)))
