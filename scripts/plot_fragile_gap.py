"""What the gaps between neighbours on the leaderboard are made of."""

from __future__ import annotations

import sys

from assay.plots.command import run_figure
from assay.plots.fragile_gap import fragile_gap

if __name__ == "__main__":
    sys.exit(
        run_figure(
            fragile_gap,
            ("pairs",),
            "What the gaps between neighbours on the leaderboard are made of.",
        )
    )
