"""Does the way of asking matter: to a model's accuracy, to the order of two models?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from assay.grid.configuration import Configuration
from assay.leaderboard.correctness import POOLED, Correctness, Item
from assay.leaderboard.effects import configuration_effects
from assay.leaderboard.family_pairs import family_pairs
from assay.stats import PairedCounts, mcnemar_exact
from support import simulation as sim
from support.twin import CONFIGURATIONS, FAMILY_EFFECT, LABELS, REFERENCE

RULES = (
    sim.Rule("an axis matters", "`leaderboard.effects.configuration_effects`, BY over axes"),
    sim.Rule("the order flips", "`leaderboard.family_pairs`, both directions, Holm"),
    sim.Rule("better everywhere", "`leaderboard.family_pairs`, every family (one-sided .025)"),
    sim.Rule("best against worst", "McNemar of a model's extreme configurations", naive=True),
    sim.Rule("ranks differ", "another model leads under some configuration", naive=True),
    sim.Rule("ahead everywhere", "one model leads in every family's mean", naive=True),
)
WAYS = sorted(CONFIGURATIONS, key=lambda way: way.key)
FAMILY = np.array([way.family for way in WAYS])
GAMMA = np.array(list(FAMILY_EFFECT.values()))


@cache
def _empty(models: int, items: int, cluster_size: int) -> Correctness:
    cells = (models, items, len(WAYS))
    return Correctness(
        models=tuple(f"m{number}" for number in range(models)),
        items=tuple(
            Item("b", f"i{number:05d}", f"c{number // cluster_size:05d}", "s", 4)
            for number in range(items)
        ),
        configurations=tuple(Configuration(w.scoring, w.format, w.order) for w in WAYS),
        reference=[way.key for way in WAYS].index(REFERENCE),
        values=np.zeros(cells, np.uint8),
        statuses=np.zeros(cells, np.uint8),
        slots=np.full(cells, -1, np.int8),
        gold_slots=np.full(cells[1:], -1, np.int8),
        labels={name: "digit" if name == "digit_labels" else "upper" for name in LABELS},
    )


def draw(rng: np.random.Generator, shift: np.ndarray, items: int, cluster_size: int) -> Correctness:
    """Draw generator G with ability plus effects `shift`, shape (model, family).

    The items of one cluster share half of the variance of each cell's own term.
    """
    models, families = shift.shape
    groups = -(-items // cluster_size)
    of_item = rng.standard_normal((models, items, families))
    of_group = rng.standard_normal((models, groups, families)).repeat(cluster_size, axis=1)
    cell = 0.6 * (of_item if cluster_size == 1 else np.sqrt(0.5) * (of_item + of_group[:, :items]))
    known = shift[:, None, :] - rng.normal(0, 1.5, (items, 1)) + cell
    error = 0.6 * rng.standard_normal((models, items, len(WAYS)), np.float32)
    right = known[:, :, FAMILY] + error > 0
    return replace(_empty(models, items, cluster_size), values=right.astype(np.uint8))


def effects(
    rng: np.random.Generator,
    runs: int,
    *,
    theta: Sequence[float],
    items: int,
    gamma: float,
    delta: float = 0.0,
    cluster_size: int = 1,
) -> sim.Outcomes:
    """Return whether any axis is said to matter."""
    ours, naive = np.empty(runs, bool), np.empty(runs, bool)
    for run in range(runs):
        data = _draw(rng, theta, items, gamma, delta, cluster_size)
        found = configuration_effects(data, data.scope(POOLED)).effects
        ours[run] = any(effect.p_adjusted <= 0.05 for effect in found)
        score = data.right.sum(axis=1)
        extremes = [
            PairedCounts.of(right[:, k.argmin()], right[:, k.argmax()])
            for right, k in zip(data.right, score, strict=True)
        ]
        naive[run] = any(mcnemar_exact(counts).p_value <= 0.05 for counts in extremes)
    return {"an axis matters": ours, "best against worst": naive}


def flips(
    rng: np.random.Generator,
    runs: int,
    *,
    theta: Sequence[float],
    items: int,
    gamma: float,
    delta: float = 0.0,
    cluster_size: int = 1,
) -> sim.Outcomes:
    """Return whether the order of two models is said to flip."""
    ours, naive = np.empty(runs, bool), np.empty(runs, bool)
    for run in range(runs):
        data = _draw(rng, theta, items, gamma, delta, cluster_size)
        ours[run] = family_pairs(data, data.scope(POOLED)).flip_p[0] <= 0.05
        score = data.right.sum(axis=1)
        naive[run] = np.ptp(np.sign(score[0] - score[1])) == 2
    return {"the order flips": ours, "ranks differ": naive}


def everywhere(
    rng: np.random.Generator, runs: int, *, lead: float, last: float, items: int
) -> sim.Outcomes:
    """Return whether a model that leads in all families, in one of them by `last`, is said to.

    With `last` zero the claim is wrong.
    """
    ours, naive = np.empty(runs, bool), np.empty(runs, bool)
    ahead = np.full(GAMMA.size, lead)
    ahead[1] = last
    for run in range(runs):
        data = draw(rng, 0.5 + GAMMA + np.stack([ahead, np.zeros_like(ahead)]), items, 1)
        ours[run] = family_pairs(data, data.scope(POOLED)).everywhere_p[0] <= 0.05
        mean = np.array([data.right[:, :, f == FAMILY].mean(axis=(1, 2)) for f in range(5)])
        naive[run] = abs(np.sign(mean[:, 0] - mean[:, 1]).sum()) == GAMMA.size
    return {"better everywhere": ours, "ahead everywhere": naive}


def _draw(
    rng: np.random.Generator,
    theta: Sequence[float],
    items: int,
    gamma: float,
    delta: float,
    cluster_size: int,
) -> Correctness:
    own = rng.normal(0, 1, (len(theta), GAMMA.size)) * delta
    return draw(rng, np.asarray(theta)[:, None] + gamma * GAMMA + own, items, cluster_size)


PATH = sim.Path(
    name="Configuration effect",
    question=(
        "Claimed: an axis changes a model's accuracy (wrong when no configuration matters); the "
        "order of two models flips between families (wrong when families shift all models "
        "alike); a model is better in every family (wrong when it is equal in one)."
    ),
    product="`assay.leaderboard.effects` and `assay.leaderboard.family_pairs`",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"no effect, models: {len(theta)}{words}", f"{items:,}",
                partial(effects, theta=theta, items=items, gamma=0.0, cluster_size=size),
            )
            for theta, items, size, words in (
                ((0.5,), 50, 1, ""), ((0.5, 1.0), 300, 1, ""),
                ((3.5,), 300, 1, " near the ceiling"), ((0.5,), 150, 5, ", clusters of 5"),
            )
        ),
        *(
            sim.Scenario(
                f"{what}, abilities {low:g} and {high:g}{words}", f"{items:,}",
                partial(flips, theta=(low, high), items=items, gamma=gamma, cluster_size=size),
            )
            for what, gamma, low, high, items, size, words in (
                ("no effect", 0.0, 1.0, 1.0, 50, 1, ""),
                ("family effects alike", 1.0, 1.0, 1.0, 300, 1, ""),
                ("family effects alike", 1.0, 1.0, 1.3, 300, 1, ""),
                ("family effects alike", 1.0, 1.0, 1.0, 1500, 1, ""),
                ("family effects alike", 1.0, 1.0, 1.0, 300, 5, ", clusters of 5"),
            )
        ),
        *(
            sim.Scenario(
                "better in four families, equal in one", f"{items:,}",
                partial(everywhere, lead=1.0, last=0.0, items=items),
            )
            for items in (100, 600)
        ),
        sim.Scenario(
            "family effects at .3 of their size", "300",
            partial(effects, theta=(0.5,), items=300, gamma=0.3), {"an axis matters": 0.9},
        ),
        sim.Scenario(
            "interaction of s.d. .3, equal abilities", "1,500",
            partial(flips, theta=(1.0, 1.0), items=1500, gamma=1.0, delta=0.3),
            {"the order flips": 0.6},
        ),
        sim.Scenario(
            "ability 0.5 higher in every family", "600",
            partial(everywhere, lead=0.5, last=0.5, items=600), {"better everywhere": 0.9},
        ),
    ),
)  # fmt: skip
