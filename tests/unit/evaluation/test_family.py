"""Several candidates of one cycle: what each shows is corrected over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.evaluation.cycle import run_cycle
from assay.evaluation.decision import decide, decide_all
from assay.evaluation.effects import Matched, effect, loss_p
from assay.evaluation.experiment import compare
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.manifest import CycleManifest
from assay.evaluation.policy import load_policy
from assay.evaluation.verdicts import Comparison
from support.attempts import arm
from support.evaluation import write_records

TARGET = ImprovementHypothesis(id="t", capability_tags=("a",), expected_uplift=0.2)
BASELINE = arm("x", "a", "0" * 40 + "1" * 60)


def candidate(gains: int, name: str, losses: int = 0) -> Comparison:
    """Compare an arm that wins the first tasks that the baseline lost, and loses the last."""
    outcomes = "1" * gains + "0" * (40 - gains) + "1" * (60 - losses) + "0" * losses
    return compare(TARGET, BASELINE, arm("x", "a", outcomes), name=name)


def test_one_that_is_better_by_itself_is_not_among_four_that_are_not() -> None:
    lucky = candidate(6, "lucky")  # p = 1/64
    others = [candidate(1, f"other{k}", losses=1) for k in range(3)]
    assert decide(lucky).decision == "deploy"
    first, *rest = decide_all([lucky, *others])
    assert first.decision == "insufficient_data"
    assert "one of 4 candidates would look so by chance" in first.reason
    assert first.better_p == pytest.approx(4 * stats.binomtest(6, 6, alternative="greater").pvalue)
    assert "deploy" not in {one.decision for one in rest}
    alone = load_policy({"candidates": "alone"})
    assert decide_all([lucky, *others], alone)[0].decision == "deploy"


def test_candidates_that_are_clearly_better_stay_so() -> None:
    found = [candidate(30, "a"), candidate(20, "b"), candidate(0, "c")]
    assert [one.decision for one in decide_all(found)][:2] == ["deploy", "deploy"]
    assert [one.better_p for one in decide_all(found)][:2] == pytest.approx(
        [3 * 0.5**30, 2 * 0.5**20]
    )


def test_a_deployment_needs_the_suite_corrected_too() -> None:
    before = BASELINE + arm("y", "b", "1" * 22 + "0" * 12 + "1" * 366)
    after = arm("x", "a", "1" * 12 + "0" * 28 + "1" * 60)
    after += arm("y", "b", "0" * 22 + "1" * 12 + "1" * 366)
    found = compare(TARGET, before, after)
    (limit,) = [one for one in found.guardrails if one.metric == "success"]
    assert limit.p_value is not None
    assert limit.status == "passed"
    single = decide(found)
    assert single.decision == "deploy"
    # As many copies as take the corrected p-value above the level: better, but not deployed.
    several = decide_all([found] * (int(0.025 / limit.p_value) + 2))
    assert {one.decision for one in several} == {"scoped"}
    assert {one.better_p is not None and one.better_p <= 0.025 for one in several} == {True}
    assert several[0].constraints["success@suite"]


@pytest.mark.parametrize("attempts", [1, 4])
def test_a_loss_is_ruled_out_where_its_interval_is_above(attempts: int) -> None:
    rng = np.random.default_rng(attempts)
    seen = set()
    for _ in range(150):
        tasks = int(rng.integers(30, 300))
        task = np.repeat(np.arange(tasks), attempts)
        before = rng.random(task.size) < 0.7
        after = np.where(rng.random(task.size) < rng.random() * 0.15, ~before, before)
        matched = Matched(task, before.astype(int), after.astype(int))
        found, p_value = effect(matched, 0.95), loss_p(matched, 0.03)
        if found.interval is None or found.interval.low is None or p_value is None:
            continue
        above = found.interval.low > -0.03
        assert above == (p_value < 0.025)
        seen.add(above)
    assert seen == {True, False}


def test_a_cycle_corrects_over_its_candidates(tmp_path) -> None:
    write_records(tmp_path / "before.jsonl", BASELINE)
    experiments = []
    for name, gains in (("lucky", 6), ("b", 1), ("c", 2), ("d", 0)):
        outcomes = "1" * gains + "0" * (40 - gains) + "1" * 60
        write_records(tmp_path / f"{name}.jsonl", arm("x", "a", outcomes))
        experiments.append({"name": name, "records": f"{name}.jsonl"})
    baseline = {"records": "before.jsonl"}
    manifest = CycleManifest.model_validate({"baseline": baseline, "experiments": experiments})
    report = run_cycle(manifest, tmp_path)
    decided = {one.name: one.decision for one in report.decisions}
    assert decided["lucky"] == "insufficient_data"
    assert "deploy" not in decided.values()
    assert any("corrected over all of them (Holm)" in remark for remark in report.remarks)
    assert [one.design.candidates for one in report.experiments] == [4] * 4
    one = manifest.model_copy(update={"experiments": manifest.experiments[:1]})
    alone = run_cycle(one, tmp_path)
    assert [found.decision for found in alone.decisions] == ["deploy"]
    first, again = alone.experiments[0].required[0], report.experiments[0].required[0]
    assert (first.alpha, again.alpha) == (0.025, 0.025 / 4)
