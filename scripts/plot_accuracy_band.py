"""The range of each model's accuracy over all configurations."""

from __future__ import annotations

import sys

from assay.plots.accuracy_band import accuracy_band
from assay.plots.command import run_figure

if __name__ == "__main__":
    sys.exit(
        run_figure(
            accuracy_band,
            ("band", "accuracy"),
            "The range of each model's accuracy over all configurations.",
        )
    )
