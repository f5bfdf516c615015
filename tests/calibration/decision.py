"""Is the candidate worth deploying?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.stats import PairedCounts, adjust_p, mcnemar_exact, paired_difference
from support import simulation as sim

RULES = (
    sim.Rule(
        "deploy",
        "`mcnemar_exact` one-sided on the target, lower bound of `paired_difference` above "
        "−3 points on the suite and the guardrail, no tag harmed after Holm; missing = worst case",
        alpha=0.025,
    ),
    sim.Rule("superiority only", "McNemar on the target, complete cases", naive=True),
    sim.Rule(
        "point rules",
        "target up by 5 points, suite and guardrail down by at most 3, complete cases",
        naive=True,
    ),
)
MARGIN = 0.03
#: Tag 0 is the target, tag 1 (where there is one) the declared guardrail.
TARGET, GUARDRAIL = 0, 1


def arms(
    rng: np.random.Generator,
    runs: int,
    *,
    tags: int,
    n: int,
    accuracy: float,
    d: float,
    gain: float = 0.0,
    harm: float = 0.0,
    missing: float = 0.0,
) -> sim.Outcomes:
    """Compare two arms; `missing` is the share of cases that the candidate lost, all failures.

    Counted as failures, as they are, they leave both arms equally good.
    """
    effects = np.zeros(tags)
    effects[TARGET] = gain
    if tags > 1:
        effects[GUARDRAIL] = -harm
    tables = np.stack(
        [rng.multinomial(n, sim.shares(accuracy, d, effect), size=runs) for effect in effects]
    )
    worst = PairedCounts(*np.moveaxis(tables, -1, 0))
    complete = PairedCounts(*np.moveaxis(tables - _lost(rng, tables, missing), -1, 0))
    target = _pick(complete, TARGET)
    return {
        "deploy": deploys(worst),
        "superiority only": _superior(target),
        "point rules": (_gap(target) >= 0.05)
        & (_gap(_pooled(complete)) >= -MARGIN)
        & (_gap(_pick(complete, min(GUARDRAIL, tags - 1))) >= -MARGIN),
    }


def deploys(counts: PairedCounts) -> np.ndarray:
    """Return the verdict on tables of shape (tag, run)."""
    verdict = _superior(_pick(counts, TARGET)) & _not_inferior(_pooled(counts))
    if len(counts.n) > 1:
        verdict &= _not_inferior(_pick(counts, GUARDRAIL))
    harm = np.asarray(mcnemar_exact(counts, alternative="less").p_value)
    harmed = [np.any(adjust_p(tags, method="holm").p_values <= 0.05) for tags in harm.T]
    return verdict & ~np.array(harmed)


def _lost(rng: np.random.Generator, tables: np.ndarray, missing: float) -> np.ndarray:
    lost = np.zeros_like(tables)
    wrong = tables[..., sim.A_ONLY] + tables[..., sim.NEITHER]
    count = np.minimum(np.rint(missing * tables.sum(axis=-1)).astype(int), wrong)
    lost[..., sim.A_ONLY] = rng.hypergeometric(
        tables[..., sim.A_ONLY], tables[..., sim.NEITHER], count
    )
    lost[..., sim.NEITHER] = count - lost[..., sim.A_ONLY]
    return lost


def _pick(counts: PairedCounts, tag: int) -> PairedCounts:
    return PairedCounts(counts.both[tag], counts.b[tag], counts.c[tag], counts.neither[tag])


def _pooled(counts: PairedCounts) -> PairedCounts:
    return PairedCounts(
        *(cell.sum(axis=0) for cell in (counts.both, counts.b, counts.c, counts.neither))
    )


def _superior(counts: PairedCounts) -> np.ndarray:
    return np.asarray(mcnemar_exact(counts, alternative="greater").p_value) <= 0.025


def _not_inferior(counts: PairedCounts) -> np.ndarray:
    return np.asarray(paired_difference(counts, level=0.95).low) > -MARGIN


def _gap(counts: PairedCounts) -> np.ndarray:
    return np.asarray((counts.b - counts.c) / counts.n)


PATH = sim.Path(
    name="Decision",
    question=(
        "Claimed: deploy. Wrong when the candidate is the baseline again (A/A), when a guardrail "
        "stands at its margin, or when it only looks better because its failures are missing."
    ),
    product="statistical rule only: `assay.stats` composed as the policy `statistical` will",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"A/A, discordance {d:g}, accuracy {accuracy:g}, {tags} tags", f"{n} a tag",
                partial(arms, tags=tags, n=n, accuracy=accuracy, d=d),
            )
            for tags, n, accuracy, d in (
                (1, 5, 0.6, 0.3), (8, 20, 0.6, 0.2), (8, 100, 0.6, 0.1), (2, 3000, 0.6, 0.2),
                (2, 300, 0.98, 0.03),
            )
        ),
        *(
            sim.Scenario(
                "target +.2, guardrail at −3 points", f"{n:,} a tag",
                partial(arms, tags=2, n=n, accuracy=0.6, d=0.2, gain=0.2, harm=MARGIN),
            )
            for n in (100, 2000)
        ),
        *(
            sim.Scenario(
                "A/A, candidate lacks 10 % of its cases", f"{n} a tag",
                partial(arms, tags=2, n=n, accuracy=0.6, d=0.2, missing=0.1),
            )
            for n in (100, 1000)
        ),
        *(
            sim.Scenario(
                f"accuracy .6 → .8 on the target, guardrail equal, discordance {d:g}",
                f"{n} a tag",
                partial(arms, tags=2, n=n, accuracy=0.7, d=d, gain=0.2),
                {"deploy": floor},
            )
            for n, d, floor in ((300, 0.3, 0.1), (1500, 0.3, 0.5), (300, 0.2, 0.15))
        ),
        sim.Scenario(
            "accuracy .6 → .8, one tag, no guardrail", "50",
            partial(arms, tags=1, n=50, accuracy=0.7, d=0.3, gain=0.2),
            {"deploy": 0.7},
        ),
    ),
)  # fmt: skip
