"""Equal arms: what chance alone makes the policies decide, on drawn and on real attempts."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import EvaluationError
from assay.evaluation.equal_arms import Calibration, calibrate
from assay.evaluation.policy import load_policy
from assay.evaluation.record import EvaluationRecord
from support.evaluation import attempts

STATISTICAL, POINTS = load_policy("statistical"), load_policy("equaxis-v1")


def test_a_split_of_one_arm_is_no_difference() -> None:
    records = attempts({"a": 0.6, "b": 0.6}, tasks=20, repeats=4)
    found = calibrate(records, STATISTICAL, draws=40, seed=1)
    assert found.how == "split"
    assert found.tasks == 40
    assert found.attempts == 40  # a third of four attempts, the odd one left out
    assert sum(found.decisions.values()) == 40
    assert found.deploy_rate <= 0.05
    assert found.deploy_interval.high is not None
    assert found.deploy_interval.high > found.deploy_rate


def test_the_point_rules_deploy_noise_and_the_tests_do_not() -> None:
    records = attempts({"a": 0.75}, tasks=5, repeats=6)
    points = calibrate(records, POINTS, draws=60, seed=2)
    tests = calibrate(records, STATISTICAL, draws=60, seed=2)
    assert points.deploy_rate > 0.15
    assert tests.deploy_rate <= 0.05


def test_single_attempts_are_simulated_and_variants_drawn_in_turn() -> None:
    records = [
        *attempts({"a": 0.9}, repeats=1, variant="good"),
        *attempts({"a": 0.1}, repeats=1, variant="bad"),
    ]
    found = calibrate(records, STATISTICAL, draws=30, seed=3)
    assert found.how == "simulated"
    assert found.deploy_rate == 0
    assert found.regression_rate <= 0.1


def test_the_same_seed_gives_the_same_rates() -> None:
    records = attempts({"a": 0.6}, tasks=10, repeats=4)
    assert calibrate(records, POINTS, draws=20, seed=5) == calibrate(
        records, POINTS, draws=20, seed=5
    )


def test_attempts_without_a_verdict_are_no_arms() -> None:
    with pytest.raises(EvaluationError, match="no record has a verdict"):
        calibrate([EvaluationRecord(task_id="t")], STATISTICAL)


def terminal_bench(path: Path, *, groups: int = 8) -> list[EvaluationRecord]:
    """Read the leaderboard's trials; each task is in one of `groups` random capabilities."""
    rng = np.random.default_rng(20261201)
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    tasks = sorted({row["task_id"] for row in rows})
    group = dict(zip(tasks, rng.permutation(len(tasks)) % groups, strict=True))
    seen: Counter[tuple[str, str]] = Counter()
    records = []
    for row in rows:
        task, variant = row["task_id"], row["submission"]
        seen[variant, task] += 1
        if row["is_resolved"] not in ("True", "False"):
            continue
        records.append(
            EvaluationRecord(
                task_id=task,
                attempt=seen[variant, task],
                variant=variant,
                capability_tags=(f"group-{group[task]}",),
                expected_success_rate=0.6,
                success=row["is_resolved"] == "True",
                total_tokens=int(row["input_tokens"]) + int(row["output_tokens"])
                if row["input_tokens"]
                else None,
            )
        )
    return records


@pytest.fixture(scope="module")
def real(shared: Path) -> list[EvaluationRecord]:
    return terminal_bench(shared / "data/agents/tb_leaderboard_outcomes.csv")


def test_real_trials_of_one_agent_are_told_apart_by_point_rules_alone(
    real: list[EvaluationRecord],
) -> None:
    # The trials measured neither cost nor latency: guardrails on them would hold everything back.
    bare = load_policy({"name": "statistical", "guardrails": []})
    points, tests = (calibrate(real, policy, draws=60, seed=1) for policy in (POINTS, bare))
    _show(points, tests)
    # Published for these data: a false regression in 89 % of the comparisons.
    assert points.regression_rate > 0.5
    assert tests.regression_rate <= 0.15
    assert tests.deploy_rate <= 0.05


def _show(*found: Calibration) -> None:
    for one in found:
        print(one.policy, one.how, one.deploy_rate, one.regression_rate, one.decisions)
