"""The accuracy that survives a change of order, format, scoring, or all of them."""

from __future__ import annotations

import sys

from assay.plots.axis_survival import axis_survival
from assay.plots.command import run_figure

if __name__ == "__main__":
    sys.exit(
        run_figure(
            axis_survival,
            ("band",),
            "The accuracy that survives a change of order, format, scoring, or all of them.",
        )
    )
