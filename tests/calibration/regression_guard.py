"""Has the candidate broken something?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.evaluation.experiment import compare_tables
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import load_policy
from assay.stats import mcnemar_exact
from support import simulation as sim
from support.arms import two_arms

RULES = (
    sim.Rule("regression", "`assay.evaluation.compare`: a harmed tag, Holm with suite and safety"),
    sim.Rule("zero tolerance", "any tag with fewer successes than before", naive=True),
    sim.Rule("equaxis-v1", "any tag down by more than 3 points", naive=True),
    sim.Rule("uncorrected", "McNemar on the attempts, each tag at one-sided .05", naive=True),
)
#: Nothing but harm is looked at.
POLICY = load_policy({"guardrails": []})
WHOLE = ImprovementHypothesis(id="whole")


def tags_of(
    rng: np.random.Generator,
    runs: int,
    *,
    tags: int,
    tasks: int,
    attempts: int,
    d: float,
    correlation: float = 0.0,
    accuracy: float = 0.6,
    harm: float = 0.0,
) -> sim.Outcomes:
    """Return whether any tag is called broken; with `harm`, whether the first, harmed one is."""
    cells = np.stack(
        [
            sim.draw_cells(
                rng,
                runs,
                (attempts,) * tasks,
                sim.shares(accuracy, d, -harm if tag == 0 else 0.0),
                correlation,
            )
            for tag in range(tags)
        ],
        axis=1,
    )
    counts = sim.count_cells(cells)
    alone = np.asarray(mcnemar_exact(counts, alternative="less").p_value)
    drop = (counts.c - counts.b) / counts.n
    claims = {
        "regression": np.array([_harmed(run, attempts) for run in cells]),
        "zero tolerance": drop > 0,
        "equaxis-v1": drop > 0.03,
        "uncorrected": alone <= 0.05,
    }
    return {rule: claim[:, 0] if harm else claim.any(axis=1) for rule, claim in claims.items()}


def _harmed(cells: np.ndarray, attempts: int) -> list[bool]:
    """Return whether each tag is called harmed; the last entry stands for suite and safety."""
    found = compare_tables(WHOLE, *two_arms(cells, attempts), POLICY)
    suite = found.suite_harm_p is not None and found.suite_harm_p <= POLICY.alpha_harm
    return [*(row.harmed for row in found.by_capability), suite]


PATH = sim.Path(
    name="Regression guard",
    question="Claimed: a tag or the suite is worse. Wrong when the candidate is equally good.",
    product="`assay.evaluation`: `compare`",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"equal, {tags} tags, discordance {d:g}, accuracy {accuracy:g}", f"{n} a tag",
                partial(tags_of, tags=tags, tasks=n, attempts=1, d=d, accuracy=accuracy),
                slow=tags * n > 1000,
            )
            for tags, n, d, accuracy in (
                (1, 20, 0.3, 0.6), (5, 100, 0.15, 0.6), (30, 20, 0.2, 0.6), (30, 300, 0.15, 0.6),
                (5, 300, 0.03, 0.98),
            )
        ),
        *(
            sim.Scenario(
                f"equal, {tags} tags, correlation 0.3", f"{tasks} tasks × {attempts} a tag",
                partial(
                    tags_of, tags=tags, tasks=tasks, attempts=attempts, d=0.2, correlation=0.3
                ),
                slow=tags * tasks * attempts > 1000,
            )
            for tags, tasks, attempts in ((1, 10, 5), (5, 12, 5), (5, 40, 5), (30, 25, 4))
        ),
        *(
            sim.Scenario(
                f"one of {tags} tags down 10 points, discordance 0.15", f"{n} a tag",
                partial(tags_of, tags=tags, tasks=n, attempts=1, d=0.15, harm=0.1),
                {"regression": floor},
                slow=tags * n > 1000,
            )
            for tags, n, floor in ((1, 100, 0.6), (5, 200, 0.85), (30, 300, 0.9))
        ),
        sim.Scenario(
            "one of 5 tags down 10 points, correlation 0.3", "200 tasks × 5 a tag",
            partial(tags_of, tags=5, tasks=200, attempts=5, d=0.2, correlation=0.3, harm=0.1),
            {"regression": 0.85}, slow=True,
        ),
    ),
)  # fmt: skip
