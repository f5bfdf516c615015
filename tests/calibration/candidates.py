"""Is one of several candidates worth deploying?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.evaluation.decision import decide_all
from assay.evaluation.experiment import compare_tables
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import load_policy
from support import simulation as sim
from support.arms import arm

RULES = (
    sim.Rule(
        "any deployed",
        "`assay.evaluation.decide_all`, policy `statistical` without guardrails",
        alpha=0.025,
    ),
    sim.Rule("any better", "`deploy` or `scoped`: better on the target", alpha=0.025),
    sim.Rule("each alone", "any deployed, `candidates: alone`: no correction", naive=True),
)
TOGETHER = load_policy({"guardrails": []})
ALONE = load_policy({"guardrails": [], "candidates": "alone"})
TARGET = ImprovementHypothesis(id="target", capability_tags=("tag00",), expected_uplift=0.05)
ACCURACY = 0.6


def cycles(
    rng: np.random.Generator,
    runs: int,
    *,
    candidates: int,
    n: int,
    d: float = 0.2,
    tags: int = 1,
    gains: tuple[float, ...] = (),
    others: float = 0.0,
    deployments: bool = False,
) -> sim.Outcomes:
    """Compare candidates with one baseline of `n` tasks a tag.

    Parameters
    ----------
    gains : tuple of float
        Effects on the target, the first tag, of the first candidates; of the others 0.
    others : float
        Effect of every candidate on every other tag.
    deployments : bool
        Whether the candidates are better: only deployments are wrong, if they lose on the suite.
    """
    effects = (*gains, *(0.0,) * (candidates - len(gains)))
    outcomes = [_cycle(rng, effects, n, d, tags, others) for _ in range(runs)]
    names = [name for name in outcomes[0] if not deployments or name != "any better"]
    return {name: np.array([outcome[name] for outcome in outcomes]) for name in names}


def _cycle(
    rng: np.random.Generator, effects: tuple[float, ...], n: int, d: float, tags: int, others: float
) -> dict[str, bool]:
    before = rng.random((tags, n)) < ACCURACY
    baseline = arm(before.astype(np.int8))
    compared = []
    for number, effect in enumerate(effects):
        change = np.where(np.arange(tags) == 0, effect, others)[:, None]
        flip = np.where(before, (d - change) / 2 / ACCURACY, (d + change) / 2 / (1 - ACCURACY))
        after = np.where(rng.random(before.shape) < flip, ~before, before)
        candidate = arm(after.astype(np.int8))
        compared.append(
            compare_tables(TARGET, baseline, candidate, TOGETHER, name=f"candidate{number}")
        )
    together, alone = (
        [one.decision for one in decide_all(compared, policy)] for policy in (TOGETHER, ALONE)
    )
    return {
        "any deployed": "deploy" in together,
        "any better": not {"deploy", "scoped"}.isdisjoint(together),
        "each alone": "deploy" in alone,
    }


PATH = sim.Path(
    name="Several candidates",
    question=(
        "Claimed: at least one candidate of a cycle is to be deployed, or is better on the target. "
        "Wrong when all are the baseline again (A/A), and for a deployment when each loses as much "
        "as the margin on the suite."
    ),
    product="`assay.evaluation`: `decide_all`",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"A/A, {candidates} candidates", f"{n}",
                partial(cycles, candidates=candidates, n=n), slow=slow,
            )
            for candidates, n, slow in (
                (2, 200, False), (6, 200, True), (3, 1000, True),
            )
        ),
        sim.Scenario(
            "3 candidates, target +.2, nine tags down: the suite at −3 points", "30 a tag",
            partial(
                cycles, candidates=3, n=30, tags=10, others=-0.5 / 9, deployments=True,
                gains=(0.2,) * 3,
            ),
            slow=True,
        ),
        sim.Scenario(
            "3 candidates, one .6 → .8", "100",
            partial(cycles, candidates=3, n=100, d=0.3, gains=(0.2,)),
            {"any deployed": 0.85, "any better": 0.85}, slow=True,
        ),
    ),
)  # fmt: skip
