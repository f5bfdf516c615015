"""Is the candidate worth deploying?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.evaluation.decision import decide
from assay.evaluation.experiment import compare_tables
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import Policy, load_policy
from assay.evaluation.table import Table
from assay.stats import fisher_exact
from support import simulation as sim
from support.arms import LOST, LOST_A, two_arms

RULES = (
    sim.Rule(
        "deploy",
        "`assay.evaluation.compare` and `decide`, policy `statistical` without the guardrails of "
        "tokens, cost and latency, which are not simulated",
        alpha=0.025,
    ),
    sim.Rule("better", "`deploy` or `scoped`: better on the target", alpha=0.025),
    sim.Rule("equaxis-v1 deploys", "the same arms under the point rules", naive=True),
    sim.Rule("equaxis-v1, any gain", "`deploy` or `scoped` under the point rules", naive=True),
    sim.Rule("Fisher", "one-sided .025 on the target's attempts as two samples", naive=True),
)
TARGET = ImprovementHypothesis(id="target", capability_tags=("tag00",), expected_uplift=0.05)
TESTS = load_policy({"guardrails": ["infrastructure"]})
POINTS = load_policy("equaxis-v1")
#: Cases up to which the point rules, which look at one rate after the other, are run too.
_SMALL = 400


def arms(
    rng: np.random.Generator,
    runs: int,
    *,
    tags: int,
    n: int,
    accuracy: float,
    d: float,
    attempts: int = 1,
    correlation: float = 0.0,
    gain: float = 0.0,
    others: float = 0.0,
    missing: float = 0.0,
    only: str | None = None,
) -> sim.Outcomes:
    """Compare two arms of `n` cases a tag.

    Parameters
    ----------
    gain, others : float
        Effect on the target, the first tag, and on every other.
    missing : float
        Share of cases that the candidate lost, all of which it failed.
    only : str, optional
        The one rule of ours whose claim is wrong in this scenario.
    """
    tasks = n // attempts
    cells = np.stack(
        [
            sim.draw_cells(
                rng, runs, (attempts,) * tasks, sim.shares(accuracy, d, effect), correlation
            )
            for effect in (gain, *(others,) * (tags - 1))
        ],
        axis=1,
    )
    if missing:
        cells = _lose(rng, cells, missing)
    outcomes = [_decided(run, attempts) for run in cells]
    names = [
        name for name in outcomes[0] if only in (None, name) or name not in ("deploy", "better")
    ]
    return {name: np.array([outcome[name] for outcome in outcomes]) for name in names}


def _decided(cells: np.ndarray, attempts: int) -> dict[str, bool]:
    baseline, candidate = two_arms(cells, attempts)
    ours = _verdict(baseline, candidate, TESTS)
    before, after = (table.verdict[: cells.shape[1]] for table in (baseline, candidate))
    before, after = before[before >= 0], after[after >= 0]
    fisher = fisher_exact(
        [[side.sum(), side.size - side.sum()] for side in (after, before)], alternative="greater"
    )
    return {
        "deploy": ours == "deploy",
        "better": ours in ("deploy", "scoped"),
        "Fisher": bool(fisher.p_value <= 0.025),
    } | (_by_points(baseline, candidate) if cells.size <= _SMALL else {})


def _by_points(baseline: Table, candidate: Table) -> dict[str, bool]:
    found = _verdict(baseline, candidate, POINTS)
    return {
        "equaxis-v1 deploys": found == "deploy",
        "equaxis-v1, any gain": found in ("deploy", "scoped"),
    }


def _verdict(baseline: Table, candidate: Table, policy: Policy) -> str:
    return decide(compare_tables(TARGET, baseline, candidate, policy), policy).decision


def _lose(rng: np.random.Generator, cells: np.ndarray, missing: float) -> np.ndarray:
    """Take cases that the candidate failed from it: counted as they are, both arms are equal."""
    wrong = np.isin(cells, (sim.A_ONLY, sim.NEITHER))
    order = np.where(wrong, rng.random(cells.shape), np.inf)
    count = np.minimum(round(missing * cells.shape[-1]), wrong.sum(axis=-1, keepdims=True))
    lost = np.argsort(np.argsort(order, axis=-1), axis=-1) < count
    return np.where(lost, np.where(cells == sim.NEITHER, LOST, LOST_A), cells)


PATH = sim.Path(
    name="Decision",
    question=(
        "Claimed: deploy, or at least better on the target. Wrong when the candidate is the "
        "baseline again (A/A), when the suite loses as much as its margin (deploy), or when it "
        "only looks better because its failures are missing."
    ),
    product="`assay.evaluation`: `compare` and `decide`",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"A/A, discordance {d:g}, accuracy {accuracy:g}, {tags} tags", f"{n} a tag",
                partial(arms, tags=tags, n=n, accuracy=accuracy, d=d),
                slow=slow,
            )
            for tags, n, accuracy, d, slow in (
                (1, 5, 0.6, 0.3, False), (1, 20, 0.8, 0.3, False), (8, 20, 0.6, 0.2, False),
                (1, 200, 0.6, 0.2, True), (8, 100, 0.6, 0.1, True), (30, 20, 0.6, 0.2, True),
                (2, 1000, 0.6, 0.2, True), (2, 300, 0.98, 0.03, False),
            )
        ),
        *(
            sim.Scenario(
                f"A/A, {tags} tags, correlation 0.3", f"{tasks} tasks × {attempts} a tag",
                partial(
                    arms, tags=tags, n=tasks * attempts, attempts=attempts, accuracy=0.6, d=0.2,
                    correlation=0.3,
                ),
            )
            for tags, tasks, attempts in ((1, 10, 5), (8, 25, 4))
        ),
        *(
            sim.Scenario(
                "target +.2, nine other tags down: the suite at −3 points", f"{n:,} a tag",
                partial(
                    arms, tags=10, n=n, accuracy=0.6, d=0.2, gain=0.2, others=-0.5 / 9,
                    only="deploy",
                ),
                slow=n > 30,
            )
            for n in (30, 300)
        ),
        *(
            sim.Scenario(
                "A/A, candidate lacks the 10 % that it failed", f"{n} a tag",
                partial(arms, tags=2, n=n, accuracy=0.6, d=0.2, missing=0.1),
                slow=n > 100,
            )
            for n in (100, 1000)
        ),
        sim.Scenario(
            "accuracy .6 → .8 on one of 8 tags", "20 a tag",
            partial(arms, tags=8, n=20, accuracy=0.7, d=0.3, gain=0.2), {"better": 0.15},
        ),
        sim.Scenario(
            "accuracy .6 → .8 on one of 8 tags", "50 a tag",
            partial(arms, tags=8, n=50, accuracy=0.7, d=0.3, gain=0.2), {"better": 0.6},
        ),
        sim.Scenario(
            "accuracy .6 → .8 on one of 8 tags, nothing else moves", "300 a tag",
            partial(arms, tags=8, n=300, accuracy=0.7, d=0.3, gain=0.2), {"deploy": 0.5},
            slow=True,
        ),
        sim.Scenario(
            "accuracy .6 → .8, one tag", "50",
            partial(arms, tags=1, n=50, accuracy=0.7, d=0.3, gain=0.2),
            {"better": 0.6, "deploy": 0.6},
        ),
        sim.Scenario(
            "accuracy .6 → .8, one tag", "20",
            partial(arms, tags=1, n=20, accuracy=0.7, d=0.3, gain=0.2), {"better": 0.15},
        ),
    ),
)  # fmt: skip
