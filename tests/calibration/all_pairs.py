"""Every pair of models of a leaderboard: which are better?"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from assay.leaderboard.pairs import judge
from assay.stats import PairedCounts, ebh, mcnemar_exact, paired_evalue, proportion_ci
from support import simulation as sim

RULES = (
    sim.Rule("McNemar, BY", "`leaderboard.pairs.judge`, verdict better"),
    sim.Rule("e-BH", "`ebh` over `paired_evalue`"),
    sim.Rule("McNemar, uncorrected", "each pair at p ≤ .05", naive=True),
    sim.Rule("intervals apart", "95 % intervals of the accuracies do not overlap", naive=True),
    sim.Rule("unpaired z", "each pair at |z| > 1.96", naive=True),
)


def tables(right: NDArray[np.bool_]) -> PairedCounts:
    """Count every pair of models, in the order of `triu_indices`, for (run, model, item)."""
    y = right.astype(np.float32)
    first, second = np.triu_indices(right.shape[1], 1)
    both = (y @ y.swapaxes(1, 2))[:, first, second]
    total = y.sum(axis=2)
    c, b = total[:, first] - both, total[:, second] - both
    return PairedCounts(both=both, b=b, c=c, neither=right.shape[2] - both - b - c)


def one(counts: PairedCounts, run: int) -> PairedCounts:
    return PairedCounts(counts.both[run], counts.b[run], counts.c[run], counts.neither[run])


def leaderboard(
    rng: np.random.Generator, runs: int, *, theta: tuple[float, ...], items: int
) -> sim.Outcomes:
    """Return false discovery proportions, or where all abilities differ the share of pairs found.

    A claim is right where the model said to be better has the higher ability.
    """
    right = sim.reference_outcomes(rng, runs, theta, items)
    counts = tables(right)
    first, second = np.triu_indices(len(theta), 1)
    truth = np.sign(np.array(theta)[second] - np.array(theta)[first])
    said = np.sign(counts.b - counts.c)
    log_e = np.asarray(paired_evalue(counts.b, counts.c).log_e)
    hits = right.sum(axis=2)
    interval = proportion_ci(hits, np.full_like(hits, items))
    low, high = np.asarray(interval.low), np.asarray(interval.high)
    apart = (low[:, second] > high[:, first]) | (high[:, second] < low[:, first])
    claims = {
        "McNemar, BY": np.array(
            [
                judge(one(counts, run), alpha=0.05, margin=0.02).verdict == "better"
                for run in range(runs)
            ]
        ),
        "e-BH": np.array([ebh(row, alpha=0.05).rejected for row in log_e]),
        "McNemar, uncorrected": np.asarray(mcnemar_exact(counts).p_value) <= 0.05,
        "intervals apart": apart,
        "unpaired z": np.abs(sim.unpaired_z(counts)) > 1.96,
    }
    found = np.all(truth != 0)
    return {
        name: ((claim & (said == truth)).mean(axis=1) if found else _false(claim, said != truth))
        for name, claim in claims.items()
    }


def _false(claim: NDArray[np.bool_], wrong: NDArray[np.bool_]) -> sim.Floats:
    return np.asarray((claim & wrong).sum(axis=1) / np.maximum(claim.sum(axis=1), 1))


GROUPED = (0.5,) * 4 + (1.0,) * 4 + (1.5,) * 4
STEPS = tuple(0.5 + 0.1 * step for step in range(12))
PATH = sim.Path(
    name="All pairs",
    question=(
        "Claimed: of each of these pairs one model is better. The rate is the expected share of "
        "false claims (with equal models: of runs with any claim), the power the share of pairs "
        "found."
    ),
    product="`assay.leaderboard.pairs.judge` (the report's verdicts) and `assay.stats.ebh`",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"{models} equal models", f"{items:,}",
                partial(leaderboard, theta=(theta,) * models, items=items),
            )
            for models, theta, items in (
                (2, 1.0, 40), (5, 1.0, 60), (5, 1.0, 400), (12, 1.0, 300), (12, 1.0, 3679),
            )
        ),
        sim.Scenario(
            "5 equal models at the ceiling", "300",
            partial(leaderboard, theta=(4.0,) * 5, items=300),
        ),
        sim.Scenario(
            "5 equal models at the floor", "300",
            partial(leaderboard, theta=(-4.0,) * 5, items=300),
        ),
        *(
            sim.Scenario(
                "3 groups of 4 equal models", f"{items:,}",
                partial(leaderboard, theta=GROUPED, items=items),
            )
            for items in (100, 1000)
        ),
        sim.Scenario(
            "12 models, steps of .1", "300",
            partial(leaderboard, theta=STEPS, items=300),
            {"McNemar, BY": 0.5, "e-BH": 0.42},
        ),
        sim.Scenario(
            "12 models, steps of .1", "3,679",
            partial(leaderboard, theta=STEPS, items=3679),
            {"McNemar, BY": 0.85, "e-BH": 0.8},
        ),
    ),
)  # fmt: skip
