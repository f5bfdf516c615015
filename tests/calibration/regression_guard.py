"""Has the candidate broken something?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.stats import adjust_p, clustered_difference, mcnemar_exact
from support import simulation as sim

RULES = (
    sim.Rule("McNemar, Holm", "one attempt a task: `mcnemar_exact` one-sided, `adjust_p`"),
    sim.Rule("task-clustered, Holm", "several attempts: `clustered_difference`, `adjust_p`"),
    sim.Rule("zero tolerance", "any tag with fewer successes than before", naive=True),
    sim.Rule("3 points", "any tag down by more than 3 points", naive=True),
    sim.Rule("uncorrected", "McNemar on the attempts, each tag at one-sided .05", naive=True),
)


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
    name, p_values = ("McNemar, Holm", alone) if attempts == 1 else _clustered(cells, attempts)
    claims = {
        name: np.array([adjust_p(row, method="holm").p_values <= 0.05 for row in p_values]),
        "zero tolerance": drop > 0,
        "3 points": drop > 0.03,
        "uncorrected": alone <= 0.05,
    }
    return {rule: claim[:, 0] if harm else claim.any(axis=1) for rule, claim in claims.items()}


def _clustered(cells: np.ndarray, attempts: int) -> tuple[str, np.ndarray]:
    change = sim.differences(cells)
    labels = np.repeat(np.arange(change.shape[2] // attempts), attempts)
    p_values = [
        [clustered_difference(tag, labels, alternative="less").p_value for tag in run]
        for run in change
    ]
    return "task-clustered, Holm", np.array(p_values)


PATH = sim.Path(
    name="Regression guard",
    question="Claimed: the candidate is worse on a tag. Wrong when it is equally good (any tag).",
    product="statistical rule only: `assay.stats` composed as the policy `statistical` will",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"equal, {tags} tags, discordance {d:g}, accuracy {accuracy:g}", f"{n} a tag",
                partial(tags_of, tags=tags, tasks=n, attempts=1, d=d, accuracy=accuracy),
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
            )
            for tags, tasks, attempts in ((1, 10, 5), (5, 12, 5), (5, 40, 5), (30, 25, 4))
        ),
        *(
            sim.Scenario(
                f"one of {tags} tags down 10 points, discordance 0.15", f"{n} a tag",
                partial(tags_of, tags=tags, tasks=n, attempts=1, d=0.15, harm=0.1),
                {"McNemar, Holm": floor},
            )
            for tags, n, floor in ((1, 100, 0.75), (5, 200, 0.85), (30, 300, 0.9))
        ),
        sim.Scenario(
            "one of 5 tags down 10 points, correlation 0.3", "200 tasks × 5 a tag",
            partial(tags_of, tags=5, tasks=200, attempts=5, d=0.2, correlation=0.3, harm=0.1),
            {"task-clustered, Holm": 0.85},
        ),
    ),
)  # fmt: skip
