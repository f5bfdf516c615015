"""Does a fix repair more than it breaks?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.stats import PairedCounts, adjust_p, mcnemar_exact, proportion_ci
from support import simulation as sim

RULES = (
    sim.Rule(
        "validated",
        "`mcnemar_exact` one-sided on a random sample, baseline re-run, unanswered = broken, "
        "`adjust_p` (Holm) over all candidates of all rounds, each on cases it was not made from",
        alpha=0.025,
    ),
    sim.Rule(
        "validated, strata weighted back",
        "Wilson intervals of the shares repaired and broken, combined with the weights",
        alpha=0.025,
    ),
    sim.Rule("stored failures", "on the baseline's failures, not re-run", naive=True),
    sim.Rule("same cases", "every round on the same cases, uncorrected", naive=True),
    sim.Rule("balanced cases", "as many failures as successes, as if random", naive=True),
    sim.Rule("answered only", "cases without an answer dropped", naive=True),
)
LEVEL = 0.025


def one_candidate(
    rng: np.random.Generator, runs: int, *, n: int, b: float, c: float, accuracy: float = 0.7
) -> sim.Outcomes:
    """Draw a random sample of all cases; the baseline's failures among them also alone."""
    cells = np.array([accuracy - c, b, c, 1 - accuracy - b])
    counts = sim.draw_counts(rng, runs, n, cells)
    outcomes = {"validated": _repairs(counts)}
    if b == c:
        # The first run's failures; run again, some of them pass for no reason but chance.
        again = PairedCounts(both=0, b=counts.b, c=0, neither=np.maximum(counts.neither, 1))
        outcomes["stored failures"] = _repairs(again)
    return outcomes


def nine_candidates(rng: np.random.Generator, runs: int, *, n: int, flips: float) -> sim.Outcomes:
    """Three rounds of three; each next round keeps what seemed to work, and where.

    No candidate does anything but flip outcomes at random. A next candidate is its predecessor,
    switched on only on the side of that case property (of ten) on which it did best so far.
    """
    outcomes = {"validated": np.empty(runs, bool), "same cases": np.empty(runs, bool)}
    for run in range(runs):
        change = rng.choice([1, -1, 0], p=[flips / 2, flips / 2, 1 - flips], size=(3, n, 3))
        traits = rng.random((3, n, 10)) < 0.5
        fresh, reused = [], []
        careful = careless = np.ones((3, n, 3), bool)
        for number in range(3):
            fresh.append(_one_sided(change[number] * careful[number]))
            reused.append(_one_sided(change[0] * careless[0]))
            careful = careful & _best_side(change, traits, careful, range(number + 1))
            careless = careless & _best_side(change, traits, careless, range(1))
        p_values = np.concatenate(fresh)
        outcomes["validated"][run] = adjust_p(p_values, method="holm").p_values.min() <= LEVEL
        outcomes["same cases"][run] = np.min(reused) <= LEVEL
    return outcomes


def _best_side(
    change: np.ndarray, traits: np.ndarray, active: np.ndarray, folds: range
) -> np.ndarray:
    """Return, shape (fold, case, candidate), where the best property so far has its better side."""
    seen = list(folds)
    effect = (change * active)[seen].reshape(-1, 3)
    sides = np.concatenate([traits, ~traits], axis=2)
    best = (sides[seen].reshape(-1, 20).T.astype(int) @ effect).argmax(axis=0)
    return np.asarray(sides[:, :, best])


def _one_sided(change: np.ndarray) -> np.ndarray:
    b, c = (change > 0).sum(axis=0), (change < 0).sum(axis=0)
    counts = PairedCounts(both=0, b=b, c=c, neither=len(change) - b - c)
    return np.asarray(mcnemar_exact(counts, alternative="greater").p_value)


def balanced(
    rng: np.random.Generator, runs: int, *, n: int, repaired: float, gain: float = 0.0
) -> sim.Outcomes:
    """Draw half failures, half successes, where 90 % of all cases succeed.

    Of the failures a share `repaired` is repaired, and so many successes are broken that accuracy
    rises by `gain`.
    """
    broken = (0.1 * repaired - gain) / 0.9
    half = n // 2
    b, c = rng.binomial(half, repaired, runs), rng.binomial(half, broken, runs)
    # Wilson intervals of both shares, combined as Newcombe does for a plain difference: a t test of
    # the weighted changes is false 9 % of the time, because few cases carry nine tenths of it.
    up, down = proportion_ci(b, half), proportion_ci(c, half)
    rise = 0.1 * up.estimate - 0.9 * down.estimate
    reach = np.hypot(0.1 * (up.estimate - up.low), 0.9 * (down.high - down.estimate))
    counts = PairedCounts(both=half - c, b=b, c=c, neither=half - b)
    return {
        "validated, strata weighted back": np.asarray(rise > reach),
        "balanced cases": _repairs(counts),
    }


def abstaining(rng: np.random.Generator, runs: int, *, n: int) -> sim.Outcomes:
    """Draw a candidate that is no better, and answers only where it is sure.

    It leaves half of what it gets wrong unanswered.
    """
    counts = sim.draw_counts(rng, runs, n, sim.shares(0.6, 0.2))
    kept = PairedCounts(
        counts.both, counts.b, rng.binomial(counts.c, 0.5), rng.binomial(counts.neither, 0.5)
    )
    return {"validated": _repairs(counts), "answered only": _repairs(kept)}


def _repairs(counts: PairedCounts) -> np.ndarray:
    return np.asarray(mcnemar_exact(counts, alternative="greater").p_value) <= LEVEL


PATH = sim.Path(
    name="Fix",
    question="Claimed: the candidate repairs more than it breaks. Wrong when accuracy stays equal.",
    product="statistical rule only: `assay.stats` composed as the fix stage will",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"A/A, {100 * flips:g} % flips", f"{n:,}",
                partial(one_candidate, n=n, b=flips / 2, c=flips / 2),
            )
            for n, flips in ((20, 0.1), (100, 0.1), (1000, 0.1), (300, 0.02))
        ),
        *(
            sim.Scenario(
                "9 candidates in 3 adaptive rounds, 10 % flips", f"{n} a round",
                partial(nine_candidates, n=n, flips=0.1),
            )
            for n in (60, 300)
        ),
        *(
            sim.Scenario(
                f"half failures, base .9, {100 * repaired:g} % of failures repaired", f"{n}",
                partial(balanced, n=n, repaired=repaired),
            )
            for n, repaired in ((100, 0.5), (400, 0.5), (1000, 0.9))
        ),
        *(
            sim.Scenario(
                "no better, leaves half of its errors unanswered", f"{n}",
                partial(abstaining, n=n),
            )
            for n in (60, 500)
        ),
        *(
            sim.Scenario(
                "15 % repaired, 5 % broken", f"{n}",
                partial(one_candidate, n=n, b=0.15, c=0.05), {"validated": floor},
            )
            for n, floor in ((100, 0.5), (200, 0.8))
        ),
        sim.Scenario(
            "half failures, base .9, accuracy up 4 points", "1000",
            partial(balanced, n=1000, repaired=0.6, gain=0.04),
            {"validated, strata weighted back": 0.85},
        ),
    ),
)  # fmt: skip
