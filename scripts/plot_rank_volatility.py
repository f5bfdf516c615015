"""The rank of each model under each configuration."""

from __future__ import annotations

import sys

from assay.plots.command import run_figure
from assay.plots.rank_volatility import rank_volatility

if __name__ == "__main__":
    sys.exit(
        run_figure(
            rank_volatility,
            ("ranks", "accuracy"),
            "The rank of each model under each configuration.",
        )
    )
