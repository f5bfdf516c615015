"""Which gap between two models so many items can show."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.plots.command import figure_parser, make_figure
from assay.plots.power_curve import power_curve


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Draw the figure."""
    return make_figure(power_curve, ("power", "pairs"), arguments)


if __name__ == "__main__":
    sys.exit(run_command(main, figure_parser(__doc__)))
