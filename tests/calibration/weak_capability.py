"""Which capabilities (tags) of a suite are below expectation?"""

from __future__ import annotations

from functools import partial

import numpy as np

from assay.evaluation.weak import adjusted, weakness
from assay.stats import clustered_difference, proportion_ci
from assay.stats.multiplicity import holm
from support import simulation as sim

RULES = (
    sim.Rule("weak", "`assay.evaluation.weak`: exact binomial or task-clustered test, Holm"),
    sim.Rule(
        "task-clustered below .5",
        "`clustered_difference` where it does not hold: sums of rare successes are skewed towards "
        "a false alarm",
        naive=True,
    ),
    sim.Rule("interval below", "95 % Wilson interval of the attempts is below", naive=True),
    sim.Rule("equaxis-v1", "rate at least .1 below, two attempts or more", naive=True),
)


def suite(
    rng: np.random.Generator,
    runs: int,
    *,
    tags: int,
    tasks: int,
    attempts: int,
    expected: float,
    rate: float,
    correlation: float,
) -> sim.Outcomes:
    """Return whether any tag is called weak; under an alternative, the share of tags."""
    successes = _draw(rng, (runs, tags, tasks), attempts, rate, correlation)
    total, n = successes.sum(axis=2), tasks * attempts
    claims = {
        name: p_values <= 0.05 for name, p_values in _tests(successes, attempts, expected).items()
    }
    claims |= {
        "interval below": np.asarray(proportion_ci(total, np.full_like(total, n)).high) < expected,
        "equaxis-v1": (total / n <= expected - 0.1 + 1e-9) & (n >= 2),
    }
    gather = np.any if rate == expected else np.mean
    return {rule: gather(claim, axis=1) for rule, claim in claims.items()}


def _tests(successes: np.ndarray, attempts: int, expected: float) -> dict[str, np.ndarray]:
    """Return the adjusted p-values of each rule, shape (run, tag)."""
    tasks = successes.shape[2]
    n, rate = np.full(tasks, attempts), np.full(tasks, expected)
    found = {"weak": np.array([adjusted([weakness(tag, n, rate) for tag in r]) for r in successes])}
    if attempts > 1 and expected < 0.5:
        raw = [[_clustered(tag, attempts, expected) for tag in run] for run in successes]
        found["task-clustered below .5"] = holm(np.array(raw))
    return found


def _draw(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    attempts: int,
    rate: float,
    correlation: float,
) -> np.ndarray:
    """Draw successes of each task: beta-binomial, with this correlation of two attempts."""
    if correlation == 0:
        return rng.binomial(attempts, rate, shape)
    strength = 1 / correlation - 1
    return rng.binomial(attempts, rng.beta(rate * strength, (1 - rate) * strength, shape))


def _clustered(successes: np.ndarray, attempts: int, expected: float) -> float:
    outcomes = np.arange(attempts) < successes[:, None]
    tasks = np.repeat(np.arange(len(successes)), attempts)
    return clustered_difference(outcomes.ravel() - expected, tasks, alternative="less").p_value


def _scenario(
    tags: int, tasks: int, attempts: int, expected: float, rho: float, *, rate: float | None = None
) -> partial[sim.Outcomes]:
    return partial(
        suite,
        tags=tags,
        tasks=tasks,
        attempts=attempts,
        expected=expected,
        rate=expected if rate is None else rate,
        correlation=rho,
    )


def _words(tags: int) -> str:
    return "1 tag" if tags == 1 else f"{tags} tags"


def _size(tasks: int, attempts: int) -> str:
    return f"{tasks} a tag" if attempts == 1 else f"{tasks} tasks × {attempts} a tag"


PATH = sim.Path(
    name="Weak capability",
    question="Claimed: success on a tag is below expectation. Wrong when it equals it (any tag).",
    product="`assay.evaluation.weak`, which `diagnose` calls",
    rules=RULES,
    scenarios=(
        *(
            sim.Scenario(
                f"expected and true {p:g}, {_words(tags)}", _size(n, 1),
                _scenario(tags, n, 1, p, 0.0),
            )
            for tags, n, p in (
                (1, 3, 0.8), (1, 20, 0.8), (5, 20, 0.8), (30, 20, 0.8), (30, 100, 0.8),
                (1, 100, 0.98), (5, 20, 0.05), (5, 300, 0.5),
            )
        ),
        *(
            sim.Scenario(
                f"expected and true {p:g}, {_words(tags)}, correlation {rho:g}",
                _size(tasks, attempts), _scenario(tags, tasks, attempts, p, rho),
            )
            for tags, tasks, attempts, p, rho in (
                (1, 5, 5, 0.8, 0.5), (1, 10, 5, 0.8, 0.5), (1, 10, 5, 0.2, 0.5),
                (5, 12, 3, 0.8, 0.5), (1, 25, 4, 0.8, 0.5), (1, 25, 4, 0.2, 0.5),
                (5, 40, 5, 0.8, 0.0), (30, 25, 4, 0.8, 0.5), (30, 25, 4, 0.2, 0.5),
                (5, 100, 5, 0.5, 0.5),
            )
        ),
        *(
            sim.Scenario(
                f"expected 0.8, true 0.6, {_words(tags)}, correlation {rho:g}",
                _size(tasks, attempts),
                _scenario(tags, tasks, attempts, 0.8, rho, rate=0.6),
                {rule: floor},
            )
            for tags, tasks, attempts, rho, rule, floor in (
                (1, 50, 1, 0.0, "weak", 0.85),
                (30, 100, 1, 0.0, "weak", 0.85),
                (1, 40, 5, 0.5, "weak", 0.85),
                (5, 100, 5, 0.5, "weak", 0.95),
            )
        ),
        sim.Scenario(
            "expected 0.3, true 0.1, 1 tag, correlation 0.5", "100 tasks × 5 a tag",
            _scenario(1, 100, 5, 0.3, 0.5, rate=0.1), {"weak": 0.9},
        ),
    ),
)  # fmt: skip
