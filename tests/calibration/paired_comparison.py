"""Two models on the same items: is one better?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.stats import (
    PairedCounts,
    clustered_difference,
    clustered_evalue,
    mcnemar_exact,
    minimum_detectable_effect,
    paired_evalue,
)
from support import simulation as sim

RULES = (
    sim.Rule("exact McNemar", "`mcnemar_exact`, p ≤ .05"),
    sim.Rule("e-value", "`paired_evalue`, e ≥ 20; where there are looks, at any look"),
    sim.Rule("clustered test", "`clustered_difference`, p ≤ .05"),
    sim.Rule("clustered e-value", "`clustered_evalue`, e ≥ 20"),
    sim.Rule("exact McNemar, one-sided", "`mcnemar_exact`, p ≤ .025", alpha=0.025),
    sim.Rule("unpaired z", "standard errors of two separate samples", naive=True),
    sim.Rule("Wald z", "difference over its estimated standard error", naive=True),
    sim.Rule(
        "percentile bootstrap",
        "items resampled, interval excludes 0; clusters ignored",
        naive=True,
    ),
    sim.Rule("McNemar, items as if independent", "clusters ignored", naive=True),
    sim.Rule("McNemar at every look", "stops at the first p ≤ .05", naive=True),
)
LOOKS, BETWEEN_LOOKS = 30, 10
Z = 1.959964


def independent(
    rng: np.random.Generator, runs: int, *, n: int, accuracy: float, d: float, effect: float = 0.0
) -> sim.Outcomes:
    counts = sim.draw_counts(rng, runs, n, sim.shares(accuracy, d, effect))
    # Under an alternative a claim in the wrong direction is no success.
    ahead = counts.b > counts.c if effect else np.ones(runs, bool)
    one_sided = mcnemar_exact(counts, alternative="greater").p_value
    low, high = sim.percentile_bootstrap(rng, counts)
    return {
        "exact McNemar": ahead & (mcnemar_exact(counts).p_value <= 0.05),
        "e-value": ahead & (paired_evalue(counts.b, counts.c).log_e >= np.log(20)),
        "exact McNemar, one-sided": one_sided <= 0.025,
        "unpaired z": ahead & (np.abs(sim.unpaired_z(counts)) > Z),
        "Wald z": ahead & (np.abs(sim.wald_z(counts)) > Z),
        "percentile bootstrap": ahead & ((low > 0) | (high < 0)),
    }


def clustered(
    rng: np.random.Generator,
    runs: int,
    *,
    sizes: tuple[int, ...],
    d: float,
    correlation: float,
    effect: float = 0.0,
) -> sim.Outcomes:
    cells = sim.draw_cells(rng, runs, sizes, sim.shares(0.6, d, effect), correlation)
    counts, change = sim.count_cells(cells), sim.differences(cells)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    ahead = counts.b > counts.c if effect else np.ones(runs, bool)
    tests = [clustered_difference(row, labels).p_value for row in change]
    bets = [clustered_evalue(row, labels, bound=max(sizes)).log_e for row in change]
    low, high = sim.percentile_bootstrap(rng, counts)
    naive = mcnemar_exact(counts).p_value
    return {
        "clustered test": ahead & (np.array(tests) <= 0.05),
        "clustered e-value": ahead & (np.array(bets) >= np.log(20)),
        "percentile bootstrap": ahead & ((low > 0) | (high < 0)),
        "McNemar, items as if independent": ahead & (np.asarray(naive) <= 0.05),
    }


def peeking(rng: np.random.Generator, runs: int, *, d: float) -> sim.Outcomes:
    """Look after every ten items, up to 300."""
    drawn = rng.multinomial(BETWEEN_LOOKS, sim.shares(0.6, d), size=(runs, LOOKS))
    counts = PairedCounts(*np.moveaxis(drawn.cumsum(axis=1), -1, 0))
    log_e = paired_evalue(counts.b, counts.c).log_e
    p_value = np.asarray(mcnemar_exact(counts).p_value)
    return {
        "e-value": (np.asarray(log_e) >= np.log(20)).any(axis=1),
        "McNemar at every look": (p_value <= 0.05).any(axis=1),
    }


def _unbalanced(clusters: int) -> tuple[int, ...]:
    """Return sizes from 1 to about 60, most of them small."""
    return tuple(int(size) for size in np.ceil(60 * np.linspace(0.05, 1, clusters) ** 3))


SMALL_TO_LARGE = (5, 20, 50, 300, 3679)
NULLS = (
    *(
        sim.Scenario(f"discordance {d:g}", f"{n:,}", partial(independent, n=n, accuracy=0.6, d=d))
        for d in (0.05, 0.15, 0.3)
        for n in SMALL_TO_LARGE
    ),
    *(
        sim.Scenario(
            f"{words}, discordance {d:g}", "300", partial(independent, n=300, accuracy=p, d=d)
        )
        for words, p, d in (("ceiling", 0.98, 0.03), ("floor", 0.02, 0.03), ("tied", 0.6, 0.01))
    ),
    sim.Scenario("looks after every 10 items", "10 to 300", partial(peeking, d=0.15)),
    *(
        sim.Scenario(
            f"discordance {d:g}, correlation {rho:g}, {text}",
            f"{sum(sizes):,}",
            partial(clustered, sizes=sizes, d=d, correlation=rho),
        )
        for d, rho, text, sizes in (
            (0.15, 0.3, "4 clusters", (25,) * 4),
            (0.15, 0.3, "8 clusters", (12,) * 8),
            (0.3, 0.3, "15 clusters", (20,) * 15),
            (0.15, 0.3, "20 clusters", (15,) * 20),
            (0.15, 0.3, "30 clusters", (10,) * 30),
            (0.15, 0.0, "30 clusters", (10,) * 30),
            (0.15, 0.3, "12 unbalanced clusters", _unbalanced(12)),
            (0.15, 0.3, "40 unbalanced clusters", _unbalanced(40)),
            (0.05, 0.3, "368 clusters", (10,) * 367 + (9,)),
        )
    ),
    sim.Scenario(
        "discordance 0.15, each item its own cluster",
        "25",
        partial(clustered, sizes=(1,) * 25, d=0.15, correlation=0.0),
    ),
)


def _detectable(n: int, d: float) -> sim.Scenario:
    by_p = minimum_detectable_effect(n, discordance=d)
    return sim.Scenario(
        f"detectable difference {100 * by_p.effect:.1f} points, discordance {d:g}",
        f"{n:,}",
        partial(independent, n=n, accuracy=0.6, d=d, effect=by_p.effect),
        {"exact McNemar": 0.8},
    )


def _detectable_by_evalue(n: int, d: float) -> sim.Scenario:
    design = minimum_detectable_effect(n, discordance=d, test="evalue")
    return sim.Scenario(
        f"detectable by e-value: {100 * design.effect:.1f} points, discordance {d:g}",
        f"{n:,}",
        partial(independent, n=n, accuracy=0.6, d=d, effect=design.effect),
        {"e-value": 0.8},
    )


POWER = (
    *(_detectable(n, d) for n, d in ((50, 0.3), (300, 0.15), (3679, 0.05), (3679, 0.3))),
    *(_detectable_by_evalue(n, d) for n, d in ((300, 0.15), (3679, 0.3))),
    *(
        sim.Scenario(
            "accuracy .6 → .8",
            str(n),
            partial(independent, n=n, accuracy=0.7, d=0.3, effect=0.2),
            {"exact McNemar, one-sided": power},
        )
        for n, power in ((20, 0.20), (50, 0.70))
    ),
    *(
        sim.Scenario(
            f"{100 * effect:g} points, discordance 0.3, correlation 0.3, {len(sizes)} clusters",
            f"{sum(sizes):,}",
            partial(clustered, sizes=sizes, d=0.3, correlation=0.3, effect=effect),
            floors,
        )
        for effect, sizes, floors in (
            (0.2, (20,) * 15, {"clustered test": 0.5}),
            (0.05, (10,) * 367 + (9,), {"clustered test": 0.75}),
        )
    ),
)

PATH = sim.Path(
    name="Paired comparison",
    question="Claimed: the two models differ. Wrong when they are equally often right.",
    product="`assay.stats`, as the leaderboard's pairs call it",
    rules=RULES,
    scenarios=(*NULLS, *POWER),
)
