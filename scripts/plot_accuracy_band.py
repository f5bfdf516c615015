"""The range of each model's accuracy over all configurations."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.plots.accuracy_band import accuracy_band
from assay.plots.command import figure_parser, make_figure


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Draw the figure."""
    return make_figure(accuracy_band, ("band", "accuracy"), arguments)


if __name__ == "__main__":
    sys.exit(run_command(main, figure_parser(__doc__)))
