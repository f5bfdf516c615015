"""Two models, or every pair: are they tied within a margin?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.leaderboard.items import ItemClasses
from assay.leaderboard.pairs import judge
from assay.stats import PairedCounts, equivalence, mcnemar_exact, needed_n_equivalence
from support import simulation as sim
from support.twin import CONFIGURATIONS, simulate

from .all_pairs import one, tables

RULES = (
    sim.Rule("equivalence", "`equivalence` on all items, p ≤ .05"),
    sim.Rule("equivalence, BY", "`leaderboard.pairs.judge`, verdict tied"),
    sim.Rule("not significant", "McNemar p > .05", naive=True),
    sim.Rule("robust items", "interval on items robust for both contains 0", naive=True),
    sim.Rule(
        "robust items, cross-fitted",
        "the same, robust under a random half of the configurations",
        naive=True,
    ),
)
#: Abilities in generator G whose accuracies at the reference differ by 5.4 points.
ABILITIES = (0.5, 0.75)
REFERENCE = [c.key for c in CONFIGURATIONS].index("gen|letter_plain|p0")


def two(
    rng: np.random.Generator, runs: int, *, n: int, margin: float, d: float, gap: float
) -> sim.Outcomes:
    counts = sim.draw_counts(rng, runs, n, sim.shares(0.6, d, gap))
    return {
        "equivalence": equivalence(counts, margin=margin).equivalent,
        "not significant": np.asarray(mcnemar_exact(counts).p_value) > 0.05,
    }


def twins(rng: np.random.Generator, runs: int, *, n: int, margin: float) -> sim.Outcomes:
    """Draw whole grids; the rules in use look only at items robust for both models."""
    names = ("equivalence", "not significant", "robust items", "robust items, cross-fitted")
    outcomes = {name: np.empty(runs, bool) for name in names}
    for run in range(runs):
        right = simulate(ABILITIES, items=n, rng=rng, interaction=0)
        counts = PairedCounts.of(right[0, :, REFERENCE], right[1, :, REFERENCE])
        half = rng.permutation(np.delete(np.arange(len(CONFIGURATIONS)), REFERENCE))[:13]
        outcomes["equivalence"][run] = equivalence(counts, margin=margin).equivalent
        outcomes["not significant"][run] = mcnemar_exact(counts).p_value > 0.05
        outcomes["robust items"][run] = _tied_on_robust(rng, right, np.arange(26))
        outcomes["robust items, cross-fitted"][run] = _tied_on_robust(rng, right, half)
    return outcomes


def _tied_on_robust(
    rng: np.random.Generator, right: np.ndarray, configurations: np.ndarray
) -> bool:
    judged = right[:, :, configurations]
    robust = ~ItemClasses.of(np.ones_like(judged), judged).fragile.any(axis=0)
    first, second = right[:, robust, REFERENCE]
    counts = PairedCounts.of(first[None], second[None])
    low, high = sim.percentile_bootstrap(rng, counts)
    return bool(low[0] <= 0 <= high[0])


def family(rng: np.random.Generator, runs: int, *, items: int, margin: float) -> sim.Outcomes:
    """Draw four models, a margin apart or more: any tie is a false discovery."""
    chance = 0.5 + margin * np.arange(4)[:, None]
    alike, own = rng.random((runs, 1, items)) < chance, rng.random((runs, 4, items)) < chance
    counts = tables(np.where(rng.random((runs, 4, items)) < 0.1, own, alike))
    verdicts = [judge(one(counts, r), alpha=0.05, margin=margin).verdict for r in range(runs)]
    return {
        "equivalence, BY": (np.array(verdicts) == "tied").any(axis=1),
        "not significant": (np.asarray(mcnemar_exact(counts).p_value) > 0.05).any(axis=1),
    }


PATH = sim.Path(
    name="Tie",
    question="Claimed: the gap is smaller than the margin. Wrong when it is the margin or more.",
    product="`assay.stats.equivalence` and `assay.leaderboard.pairs.judge`",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"gap {100 * side * margin:+g} points = margin, discordance {d:g}", f"{n:,}",
                partial(two, n=n, margin=margin, d=d, gap=side * margin),
            )
            for n, margin, d, side in (
                (20, 0.1, 0.3, 1), (100, 0.05, 0.15, -1), (133, 0.02, 0.02, 1),
                (300, 0.02, 0.15, 1), (300, 0.05, 0.05, -1), (514, 0.05, 0.15, 1),
                (3211, 0.02, 0.15, 1), (3679, 0.02, 0.05, -1), (12846, 0.01, 0.15, 1),
            )
        ),
        *(
            sim.Scenario(
                "generator G, true gap 5.4 points, margin 5", f"{n:,}",
                partial(twins, n=n, margin=0.05),
            )
            for n in (100, 1500)
        ),
        sim.Scenario(
            "4 models a margin of 5 points apart or more", "1,500",
            partial(family, items=1500, margin=0.05),
        ),
        *(
            sim.Scenario(
                f"gap 0, margin {100 * margin:g} points, discordance 0.15",
                f"{needed_n_equivalence(margin=margin, discordance=0.15):,}",
                partial(
                    two, n=needed_n_equivalence(margin=margin, discordance=0.15),
                    margin=margin, d=0.15, gap=0.0,
                ),
                {"equivalence": 0.8},
            )
            for margin in (0.01, 0.02, 0.05)
        ),
    ),
)  # fmt: skip
