"""Are tokens, cost and latency within their limits?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from assay.evaluation.effects import Matched, effect
from assay.evaluation.guardrails import Arms, guardrails
from assay.evaluation.pairing import pair
from assay.evaluation.policy import load_policy
from assay.evaluation.table import Table
from support import simulation as sim
from support.arms import arm

#: Metric → the column that is measured.
COLUMNS = {"tokens": "total", "cost": "cost", "latency_p50": "latency", "latency_p95": "latency"}
TITLES = {"tokens": "tokens", "cost": "cost", "latency_p50": "p50", "latency_p95": "p95"}
RULES = (
    *(
        sim.Rule(f"{title} holds", f"guardrail `{metric}` on the suite: passed", alpha=0.025)
        for metric, title in TITLES.items()
    ),
    *(
        sim.Rule(f"{title} broken", f"guardrail `{metric}` on the suite: failed", alpha=0.025)
        for metric, title in TITLES.items()
    ),
    sim.Rule("mean holds", "mean latency at most the limit above, as in equaxis-v1", naive=True),
    sim.Rule("mean broken", "mean latency more than the limit above", naive=True),
)
POLICY = load_policy({"guardrails": list(COLUMNS)})
LIMITS = {
    "total": POLICY.max_token_increase_rate,
    "cost": POLICY.max_cost_increase_rate,
    "latency": POLICY.max_latency_increase_rate,
}
#: Success is looked at elsewhere.
NOTHING = effect(Matched(*(np.zeros(0, np.int64) for _ in range(3))), POLICY.level)


def arms(
    rng: np.random.Generator,
    runs: int,
    *,
    tasks: int,
    attempts: int = 1,
    spread: float = 0.8,
    storms: float = 0.0,
    of_limit: float = 1.0,
    claim: str = "",
) -> sim.Outcomes:
    """Compare arms whose candidate takes more by a share of the limit.

    Parameters
    ----------
    spread : float
        Standard deviation of the logarithm between tasks; between attempts at one it is 0.5.
    storms : float
        Share of attempts of either arm that take eight times as long.
    of_limit : float
        How much of the limit the true increase is: 0 for equal arms, 1 at the limit.
    claim : str
        ``holds`` or ``broken``: the one claim that is looked at; both where left out.
    """
    found: dict[str, list[bool]] = {}
    for _ in range(runs):
        level = np.repeat(rng.normal(9, spread, tasks), attempts)
        taken = [_taken(rng, level, storms) for _ in range(2)]
        for name, outcome in _claims(*taken, attempts, of_limit).items():
            if name.endswith(claim):
                found.setdefault(name, []).append(outcome)
    return {name: np.array(outcomes) for name, outcomes in found.items()}


def _taken(rng: np.random.Generator, level: np.ndarray, storms: float) -> np.ndarray:
    slow = np.where(rng.random(level.size) < storms, np.log(8), 0)
    return np.exp(level + slow + rng.normal(0, 0.5, level.size))


def _claims(
    before: np.ndarray, after: np.ndarray, attempts: int, of_limit: float
) -> dict[str, bool]:
    grown = {column: after * (1 + of_limit * limit) for column, limit in LIMITS.items()}
    tables = _table(dict.fromkeys(LIMITS, before), attempts), _table(grown, attempts)
    compared = Arms(*tables, pair(*tables, POLICY))
    nowhere = np.zeros(before.size, bool)
    claims = {}
    for limit in guardrails(compared, nowhere, NOTHING, None, POLICY):
        if limit.scope == "suite" and limit.metric in TITLES:
            title = TITLES[limit.metric]
            claims[f"{title} holds"] = limit.status == "passed"
            claims[f"{title} broken"] = limit.status == "failed"
    ratio = grown["latency"].mean() / before.mean() - 1
    within = bool(ratio <= LIMITS["latency"])
    return claims | {"mean holds": within, "mean broken": not within}


def _table(measured: dict[str, np.ndarray], attempts: int) -> Table:
    (size,) = {values.size for values in measured.values()}
    table = arm(np.ones((1, size), np.int8), attempts)
    return replace(table, measured={**table.measured, **measured})


PATH = sim.Path(
    name="Guardrail",
    question=(
        "Claimed: an increase of tokens, cost or latency is within its limit (holds), or above it "
        "(broken). Wrong when it is exactly the limit; broken is also wrong when both arms take "
        "the same."
    ),
    product="`assay.evaluation.guardrails`, as `compare` calls it",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"at the limit, spread {spread:g}, {storms:.0%} storms", n,
                partial(arms, tasks=tasks, attempts=attempts, spread=spread, storms=storms),
                slow=slow,
            )
            for n, tasks, attempts, spread, storms, slow in (
                ("60", 60, 1, 0.8, 0.0, True), ("300", 300, 1, 0.8, 0.0, False),
                ("300", 300, 1, 0.8, 0.05, True), ("25", 25, 1, 0.8, 0.0, True),
                ("60 tasks × 5", 60, 5, 0.8, 0.05, True), ("60 tasks × 5", 60, 5, 2.0, 0.0, True),
            )
        ),
        *(
            sim.Scenario(
                f"equal arms, spread {spread:g}, {storms:.0%} storms", n,
                partial(
                    arms, tasks=tasks, attempts=attempts, spread=spread, storms=storms,
                    of_limit=0.0, claim="broken",
                ),
                slow=slow,
            )
            for n, tasks, attempts, spread, storms, slow in (
                ("60", 60, 1, 0.8, 0.05, True), ("300", 300, 1, 0.8, 0.05, True),
                ("60 tasks × 5", 60, 5, 2.0, 0.05, True),
            )
        ),
        sim.Scenario(
            "equal arms, spread 0.8, no storms", "300",
            partial(arms, tasks=300, of_limit=0.0, claim="holds"),
            {"tokens holds": 0.8, "cost holds": 0.6, "p50 holds": 0.3}, slow=True,
        ),
        sim.Scenario(
            "three times the limit, spread 0.8, no storms", "300",
            partial(arms, tasks=300, of_limit=3.0, claim="broken"),
            {"tokens broken": 0.9, "cost broken": 0.8, "p50 broken": 0.7, "p95 broken": 0.1},
            slow=True,
        ),
    ),
)  # fmt: skip
