"""The accuracy that survives a change of order, format, scoring, or all of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.plots.axis_survival import axis_survival
from assay.plots.command import figure_parser, make_figure


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Draw the figure."""
    return make_figure(axis_survival, ("band",), arguments)


if __name__ == "__main__":
    sys.exit(run_command(main, figure_parser(__doc__)))
