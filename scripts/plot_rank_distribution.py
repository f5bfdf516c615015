"""How probable each rank of each model is, were other items like these asked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.command import run_command
from assay.plots.command import figure_parser, make_figure
from assay.plots.rank_distribution import rank_distribution


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Draw the figure."""
    return make_figure(rank_distribution, ("rank_probability",), arguments)


if __name__ == "__main__":
    sys.exit(run_command(main, figure_parser(__doc__)))
