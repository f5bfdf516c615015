"""The share of answers in each slot beside the gold's share."""

from __future__ import annotations

import sys

from assay.plots.command import run_figure
from assay.plots.position_preference import position_preference

if __name__ == "__main__":
    sys.exit(
        run_figure(
            position_preference,
            ("slots", "band"),
            "The share of answers in each slot beside the gold's share.",
        )
    )
