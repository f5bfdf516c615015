"""Real arms that are equal: two runs of one agent at the same 80 tasks, again and again."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assay.evaluation.decision import decide
from assay.evaluation.experiment import compare_tables
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import load_policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.table import Table
from assay.evaluation.verdicts import Comparison
from support import simulation as sim
from support.arms import two_arms

GROUPS = 8
TARGET = ImprovementHypothesis(id="t", capability_tags=("tag00",), expected_uplift=0.05)
WHOLE = ImprovementHypothesis(id="whole", expected_uplift=0.05)
TESTS = load_policy({"guardrails": ["infrastructure"]})
POINTS = load_policy("equaxis-v1")


def harmed(found: Comparison) -> bool:
    return bool(found.regressions) or any(row.harmed for row in found.by_capability)


def records(rows: pd.DataFrame, tag_of: dict[str, str]) -> list[EvaluationRecord]:
    return [
        EvaluationRecord(
            task_id=task,
            capability_tags=(tag_of[task],),
            success=None if pd.isna(resolved) else bool(resolved),
            failure_class="infrastructure" if pd.isna(resolved) else None,
        )
        for task, resolved in zip(rows.task_id, rows.is_resolved, strict=True)
    ]


@pytest.fixture(scope="module")
def outcomes(shared: Path) -> pd.DataFrame:
    table = pd.read_csv(shared / "data/agents/tb_leaderboard_outcomes.csv")
    # Five attempts a task: where a submission keeps them in one file, their names number them.
    table["again"] = table.groupby(["submission", "task_id"]).cumcount()
    return table


def test_two_runs_of_one_agent(outcomes: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    decided: dict[str, Counter[str]] = defaultdict(Counter)
    regressions: Counter[str] = Counter()
    pairs = 0
    for _, agent in outcomes.groupby("submission"):
        tasks = rng.permutation(agent.task_id.unique())
        tag_of = {task: f"tag{k % GROUPS:02d}" for k, task in enumerate(tasks)}
        runs = [Table.of(records(run, tag_of)) for _, run in agent.groupby("again")]
        for first, second in itertools.permutations(runs, 2):
            pairs += 1
            for name, target, policy in (
                ("tests", TARGET, TESTS),
                ("tests, whole suite", WHOLE, TESTS),
                ("points", TARGET, POINTS),
            ):
                found = compare_tables(target, first, second, policy)
                decided[name][decide(found, policy).decision] += 1
                regressions[name] += harmed(found)
    assert pairs == 260
    for name in ("tests", "tests, whole suite"):
        claims = decided[name]["deploy"] + decided[name]["scoped"]
        assert stats.binom.sf(claims - 1, pairs, 0.025) > sim.CREDIBLE, decided
        assert stats.binom.sf(regressions[name] - 1, pairs, 0.05) > sim.CREDIBLE, regressions
    # What the tests are for.
    assert regressions["points"] > 0.7 * pairs


def test_columns_and_records_are_decided_alike() -> None:
    """The simulations hand columns to the comparison; a user hands records to it."""
    rng = np.random.default_rng(1)
    seen = set()
    for effect in (0.0, 0.2, -0.2):
        for attempts in (1, 3):
            tag = (attempts,) * 40
            cells = np.stack(
                [sim.draw_cells(rng, 2, tag, sim.shares(0.6, 0.3, e), 0.3)[0] for e in (effect, 0)]
            )
            arms = two_arms(cells, attempts)
            for policy in (TESTS, POINTS):
                one = compare_tables(TARGET, *arms, policy)
                two = compare_tables(TARGET, *(Table.of(_records(arm)) for arm in arms), policy)
                assert one.model_dump(exclude={"design"}) == two.model_dump(exclude={"design"})
                seen.add(decide(one, policy).decision)
                assert decide(one, policy) == decide(two, policy)
    assert len(seen) > 1


def _records(table: Table) -> list[EvaluationRecord]:
    return [
        EvaluationRecord(
            task_id=table.names["task"][task],
            attempt=attempt,
            task_area="area",
            capability_tags=table.tag_names[tags],
            success=bool(verdict),
        )
        for task, attempt, tags, verdict in zip(
            table.codes["task"].tolist(),
            table.attempt.tolist(),
            table.codes["tags"].tolist(),
            table.verdict.tolist(),
            strict=True,
        )
    ]
