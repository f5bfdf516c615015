"""Statistics on arrays: pure functions that return frozen results."""

from assay.stats.clusters import ClusteredTest, clustered_difference
from assay.stats.conditions import (
    Nemenyi,
    PairwiseMcNemar,
    cochran_q,
    friedman,
    nemenyi,
    pairwise_mcnemar,
)
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
    "ClusteredTest",
    "Design",
    "Equivalence",
    "Interval",
    "Nemenyi",
    "PairedCounts",
    "PairwiseMcNemar",
    "Test",
    "adjust_p",
    "clustered_difference",
    "cochran_q",
    "equivalence",
    "friedman",
    "kendall",
    "kendall_matrix",
    "kendall_w",
    "mcnemar_exact",
    "mcnemar_power",
    "minimum_detectable_effect",
    "needed_n",
    "needed_n_equivalence",
    "nemenyi",
    "paired_difference",
    "pairwise_mcnemar",
    "proportion_ci",
    "strictest_level",
]
