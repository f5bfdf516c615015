"""The share of outcomes that flip against the reference, by model and configuration."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.plots.command import figure_parser, make_figure
from assay.plots.flip_matrix import flip_matrix


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Draw the figure."""
    return make_figure(flip_matrix, ("flips", "accuracy", "band"), arguments)


if __name__ == "__main__":
    sys.exit(run_command(main, figure_parser(__doc__)))
