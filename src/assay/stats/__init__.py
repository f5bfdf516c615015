"""Statistics on arrays: pure functions that return frozen results."""

from assay.stats.calibration import Calibration, calibration
from assay.stats.clusters import ClusteredTest, clustered_difference
from assay.stats.conditions import cochran_q, friedman
from assay.stats.equivalence import Equivalence, equivalence
from assay.stats.evalue import clustered_evalue, paired_evalue
from assay.stats.multiplicity import (
    Adjusted,
    Rejected,
    adjust_p,
    ebh,
    reject_jointly,
    strictest_level,
)
from assay.stats.paired import PairedCounts, mcnemar_exact, paired_difference
from assay.stats.passes import pass_at_k, pass_hat_k
from assay.stats.permutation import permutation_test
from assay.stats.posthoc import Nemenyi, PairwiseMcNemar, nemenyi, pairwise_mcnemar
from assay.stats.power import (
    Design,
    evalue_power,
    mcnemar_power,
    minimum_detectable_effect,
    needed_n,
    needed_n_equivalence,
)
from assay.stats.proportion import clustered_proportion_ci, proportion_ci
from assay.stats.rank import kendall, kendall_matrix, kendall_w
from assay.stats.rank_sets import RankSets, rank_confidence
from assay.stats.rank_sum import mann_whitney
from assay.stats.ratios import paired_ratio
from assay.stats.resampling import Bootstrap, bootstrap, bootstrap_means
from assay.stats.result import EValue, Interval, Test
from assay.stats.spending import OnlineRejections, cycle_alpha, e_lond
from assay.stats.unpaired import fisher_exact, unpaired_difference

__all__ = [
    "Adjusted",
    "Bootstrap",
    "Calibration",
    "ClusteredTest",
    "Design",
    "EValue",
    "Equivalence",
    "Interval",
    "Nemenyi",
    "OnlineRejections",
    "PairedCounts",
    "PairwiseMcNemar",
    "RankSets",
    "Rejected",
    "Test",
    "adjust_p",
    "bootstrap",
    "bootstrap_means",
    "calibration",
    "clustered_difference",
    "clustered_evalue",
    "clustered_proportion_ci",
    "cochran_q",
    "cycle_alpha",
    "e_lond",
    "ebh",
    "equivalence",
    "evalue_power",
    "fisher_exact",
    "friedman",
    "kendall",
    "kendall_matrix",
    "kendall_w",
    "mann_whitney",
    "mcnemar_exact",
    "mcnemar_power",
    "minimum_detectable_effect",
    "needed_n",
    "needed_n_equivalence",
    "nemenyi",
    "paired_difference",
    "paired_evalue",
    "paired_ratio",
    "pairwise_mcnemar",
    "pass_at_k",
    "pass_hat_k",
    "permutation_test",
    "proportion_ci",
    "rank_confidence",
    "reject_jointly",
    "strictest_level",
    "unpaired_difference",
]
