"""Where the variance of right and wrong answers lies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.plots.command import figure_parser, make_figure
from assay.plots.variance_components import variance_components


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Draw the figure."""
    return make_figure(variance_components, ("variance",), arguments)


if __name__ == "__main__":
    sys.exit(run_command(main, figure_parser(__doc__)))
