"""Is a hypothesis, proposed on cases that were seen, supported on held-out ones, or refuted?"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

from assay.stats import adjust_p, cycle_alpha, fisher_exact, mann_whitney, unpaired_difference
from support import simulation as sim

RULES = (
    sim.Rule(
        "supported",
        "fresh cases in each cycle: `mann_whitney` in the direction predicted, `adjust_p` (Holm) "
        "at `cycle_alpha`",
    ),
    sim.Rule("refuted", "upper bound of `unpaired_difference` below the minimum effect"),
    sim.Rule("BH in each cycle", "fresh cases, every cycle at .05 by itself", naive=True),
    sim.Rule("seen cases", "tested at p ≤ .05 on the cases that suggested it", naive=True),
    sim.Rule("not significant", "p > .05 called refuted", naive=True),
)
SIGNALS, HYPOTHESES, MINIMUM = 30, 4, 0.2


def cycles(
    rng: np.random.Generator, runs: int, *, n: int, cycles: int, area: float = 0.5
) -> sim.Outcomes:
    """Propose the four best signals of all cases seen; test them on fresh ones; learn from these.

    One case in four fails. Under a null no signal has to do with failure; else only the first has,
    and finding it counts.
    """
    names = ("supported", "BH in each cycle", "seen cases")
    outcomes = {name: np.zeros(runs, bool) for name in names}
    fail = np.arange(n) < n // 4
    shift = np.sqrt(2) * stats.norm.ppf(area)
    for run in range(runs):
        seen, failed = rng.standard_normal((n, SIGNALS)), fail
        seen[fail, 0] += shift
        for cycle in range(1, cycles + 1):
            score, z = _areas(seen, failed)
            chosen = np.argsort(-np.abs(score - 0.5))[:HYPOTHESES]
            fresh = rng.standard_normal((n, SIGNALS))
            fresh[fail, 0] += shift
            p_values = np.array(
                [
                    mann_whitney(
                        fresh[fail, k],
                        fresh[~fail, k],
                        alternative="greater" if score[k] > 0.5 else "less",
                    ).p_value
                    for k in chosen
                ]
            )
            counted = chosen == 0 if area != 0.5 else np.ones(HYPOTHESES, bool)
            holm, bh = (adjust_p(p_values, method=m).p_values for m in ("holm", "bh"))
            outcomes["supported"][run] |= np.any(counted & (holm <= cycle_alpha(0.05, cycle)))
            outcomes["BH in each cycle"][run] |= np.any(counted & (bh <= 0.05))
            outcomes["seen cases"][run] |= np.any(counted & (np.abs(z[chosen]) > 1.96))
            seen, failed = np.concatenate([seen, fresh]), np.concatenate([failed, fail])
    return outcomes


def _areas(values: np.ndarray, failed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each signal's area under the ROC curve and its z."""
    fails, passes = failed.sum(), (~failed).sum()
    ranks = stats.rankdata(values, axis=0)
    area = (ranks[failed].sum(axis=0) / fails - (fails + 1) / 2) / passes
    return area, (area - 0.5) / np.sqrt((len(failed) + 1) / (12 * fails * passes))


def refutation(
    rng: np.random.Generator, runs: int, *, present: int, absent: int, rate: float, true: float
) -> sim.Outcomes:
    """Draw failures where the signal raises their rate by `true`; the minimum is 20 points."""
    with_it = rng.binomial(present, rate + true, runs)
    without = rng.binomial(absent, rate, runs)
    # One-sided at .05: the upper end of the two-sided 90 % interval.
    bound = unpaired_difference(without, absent, with_it, present, level=0.9).high
    tests = [
        fisher_exact([[a, present - a], [b, absent - b]], alternative="greater").p_value
        for a, b in zip(with_it, without, strict=True)
    ]
    return {"refuted": np.asarray(bound) < MINIMUM, "not significant": np.array(tests) > 0.05}


PATH = sim.Path(
    name="Held-out hypothesis",
    question=(
        "Claimed: supported (wrong when the signal has nothing to do with failure: any claim in "
        "all cycles), or refuted (wrong when the effect is the minimum that was declared)."
    ),
    product="statistical rule only: `assay.stats` composed as the verification stage will",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                "5 adaptive cycles of 4 hypotheses, no signal", f"{n} a cycle",
                partial(cycles, n=n, cycles=5),
            )
            for n in (40, 200)
        ),
        *(
            sim.Scenario(
                f"true effect = minimum = 20 points, base rate {rate:g}", f"{a} + {b}",
                partial(refutation, present=a, absent=b, rate=rate, true=MINIMUM),
            )
            for a, b, rate in ((10, 20, 0.3), (20, 100, 0.1), (100, 100, 0.4), (500, 500, 0.05))
        ),
        *(
            sim.Scenario(
                "1 cycle, one true signal with AUC .7", f"{n} a cycle",
                partial(cycles, n=n, cycles=1, area=0.7), {"supported": floor},
            )
            for n, floor in ((60, 0.25), (200, 0.9))
        ),
        sim.Scenario(
            "no effect where 20 points were predicted, base rate 0.3", "100 + 100",
            partial(refutation, present=100, absent=100, rate=0.3, true=0.0), {"refuted": 0.85},
        ),
    ),
)  # fmt: skip
