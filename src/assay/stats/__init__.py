"""Statistics on arrays: pure functions that return frozen results."""

from assay.stats.equivalence import Equivalence, equivalence
from assay.stats.multiplicity import Adjusted, adjust_p, strictest_level
from assay.stats.paired import PairedCounts, mcnemar_exact, paired_difference
from assay.stats.power import (
    Design,
    mcnemar_power,
    minimum_detectable_effect,
    needed_n,
    needed_n_equivalence,
)
from assay.stats.proportion import proportion_ci
from assay.stats.rank import kendall, kendall_matrix, kendall_w
from assay.stats.result import Interval, Test

__all__ = [
    "Adjusted",
    "Design",
    "Equivalence",
    "Interval",
    "PairedCounts",
    "Test",
    "adjust_p",
    "equivalence",
    "kendall",
    "kendall_matrix",
    "kendall_w",
    "mcnemar_exact",
    "mcnemar_power",
    "minimum_detectable_effect",
    "needed_n",
    "needed_n_equivalence",
    "paired_difference",
    "proportion_ci",
    "strictest_level",
]
