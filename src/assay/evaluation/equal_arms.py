"""A/A: two arms that cannot differ through the whole path, from diagnosis to decision.

What is decided on them is decided by chance: the rate at which a policy deploys or finds a
regression here is its false-positive rate on data like these.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from assay.core.errors import EvaluationError
from assay.evaluation.decision import decide
from assay.evaluation.diagnosis import diagnose
from assay.evaluation.experiment import compare
from assay.evaluation.hypotheses import hypothesize
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import Policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.results import Bounds, Result
from assay.evaluation.verdicts import Comparison, Decision
from assay.stats import proportion_ci

Records = Sequence[EvaluationRecord]
_WHOLE = ImprovementHypothesis(id="whole-suite")


class Calibration(Result):
    """What a policy decides on equal arms.

    Attributes
    ----------
    how : {"split", "simulated"}
        Attempts of one arm split at random, tasks with too few of them left out; or, where these
        are most, verdicts drawn anew for both arms.
    draws : int
        Pairs of arms.
    tasks, attempts : float
        Mean number in an arm.
    deploy_rate, regression_rate : float
        Draws in which the candidate was deployed, and in which any regression was found.
    deploy_interval, regression_interval : Bounds
        Clopper-Pearson, 95 %; draws of one arm share its attempts, so they are a lower bound of
        the uncertainty.
    decisions : dict
        Decision → draws.
    """

    policy: str
    how: Literal["split", "simulated"]
    draws: int
    tasks: float
    attempts: float
    deploy_rate: float
    deploy_interval: Bounds
    regression_rate: float
    regression_interval: Bounds
    decisions: dict[str, int]


def calibrate(
    records: Iterable[EvaluationRecord], policy: Policy, *, draws: int = 200, seed: int = 1234
) -> Calibration:
    """Return what `policy` decides on equal arms made from `records`.

    Parameters
    ----------
    records : iterable of EvaluationRecord
        Of one arm or of several variants, one of which is drawn each time.
    draws : int
        Pairs of arms.

    Raises
    ------
    EvaluationError
        If no record has a verdict.
    """
    arms = _by_variant(records)
    # Point rules compare with the run that chose the hypothesis; the tests ask for a fresh one.
    parts = 2 if policy.points else 3
    enough = _attempted(arms, parts)
    repeated = 2 * sum(map(len, enough)) >= sum(map(len, arms))
    make, arms = (_split, enough) if repeated else (_simulate, arms)
    rng = np.random.default_rng(seed)
    decided: Counter[str] = Counter()
    regressions, sizes = 0, []
    for _ in range(draws):
        *baselines, candidate = make(arms[rng.integers(len(arms))], parts, rng)
        decision, comparison = _through(baselines, candidate, policy)
        decided[decision.decision] += 1
        regressions += _claims_harm(comparison)
        sizes.append((len({one.task_id for one in candidate}), len(candidate)))
    tasks, attempts = np.mean(sizes, axis=0)
    return Calibration(
        policy=policy.name,
        how="split" if repeated else "simulated",
        draws=draws,
        tasks=float(tasks),
        attempts=float(attempts),
        deploy_rate=decided["deploy"] / draws,
        deploy_interval=_interval(decided["deploy"], draws),
        regression_rate=regressions / draws,
        regression_interval=_interval(regressions, draws),
        decisions=dict(sorted(decided.items())),
    )


Tasks = dict[str, list[EvaluationRecord]]


def _by_variant(records: Iterable[EvaluationRecord]) -> list[Tasks]:
    arms: dict[str, Tasks] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record.success is not None and not record.infrastructure:
            arms[record.variant][record.task_id].append(record)
    if not arms:
        raise EvaluationError("no record has a verdict.", fix="equal arms need attempts with one.")
    return list(arms.values())


def _attempted(arms: list[Tasks], times: int) -> list[Tasks]:
    """Return the arms with the tasks that were attempted often enough."""
    kept = [{task: seen for task, seen in arm.items() if len(seen) >= times} for arm in arms]
    return [arm for arm in kept if arm]


def _split(tasks: Tasks, parts: int, rng: np.random.Generator) -> list[Records]:
    """Give each part as many of each task's attempts; what is left over is left out."""
    arms: list[list[EvaluationRecord]] = [[] for _ in range(parts)]
    for attempts in tasks.values():
        drawn = rng.permutation(len(attempts))
        size = len(attempts) // parts
        for number, arm in enumerate(arms):
            chosen = drawn[number * size : (number + 1) * size]
            arm += _numbered(attempts[n] for n in chosen)
    return list(arms)


def _simulate(tasks: Tasks, parts: int, rng: np.random.Generator) -> list[Records]:
    """Draw each task's verdicts anew for every part: its own rate, drawn towards the arm's mean.

    A Beta with the arm's mean and the weight of two attempts, updated by what was seen, gives the
    task's rate; a task keeps its area, tags and measurements.
    """
    seen = [bool(record.success) for attempts in tasks.values() for record in attempts]
    mean = min(max(float(np.mean(seen)), 0.01), 0.99)
    arms: list[list[EvaluationRecord]] = [[] for _ in range(parts)]
    for attempts in tasks.values():
        hits = sum(bool(record.success) for record in attempts)
        rate = rng.beta(2 * mean + hits, 2 * (1 - mean) + len(attempts) - hits)
        for arm in arms:
            arm += _numbered(_redrawn(record, rng.random() < rate) for record in attempts)
    return list(arms)


def _redrawn(record: EvaluationRecord, success: bool) -> EvaluationRecord:
    if success == record.success:
        return record
    failed = {"failure_code": None, "failure_class": None, "classification_source": None}
    return record.model_copy(update={"success": success, "score": float(success), **failed})


def _numbered(attempts: Iterable[EvaluationRecord]) -> list[EvaluationRecord]:
    return [
        record.model_copy(update={"attempt": number})
        for number, record in enumerate(attempts, start=1)
    ]


def _through(
    baselines: Sequence[Records], candidate: Records, policy: Policy
) -> tuple[Decision, Comparison]:
    """Take the arms through the path, with the first hypothesis that the first baseline suggests.

    The last baseline is what the candidate is compared with.
    """
    hypotheses = hypothesize(diagnose(baselines[0], policy=policy), policy)
    chosen = hypotheses[0] if hypotheses else _WHOLE
    found = compare(chosen, baselines[-1], candidate, name="equal", policy=policy)
    return decide(found, policy), found


def _claims_harm(found: Comparison) -> bool:
    return bool(found.regressions) or any(one.harmed for one in found.by_capability)


def _interval(hits: int, draws: int) -> Bounds:
    found = proportion_ci(hits, draws, method="clopper-pearson")
    return Bounds(low=float(found.low), high=float(found.high), method="Clopper-Pearson")
