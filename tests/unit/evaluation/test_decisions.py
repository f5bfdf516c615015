"""Each fault of point rules on single rates, and what the tests do instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import EvaluationError
from assay.evaluation.cycles import compare_cycles
from assay.evaluation.decision import decide
from assay.evaluation.diagnosis import diagnose
from assay.evaluation.experiment import compare
from assay.evaluation.hypotheses import hypothesize
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import Policy, load_policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.verdicts import Comparison, Decision
from assay.stats import paired_ratio
from support.attempts import again, arm

TARGET = ImprovementHypothesis(id="t", capability_tags=("a",), expected_uplift=0.2)
POLICY = load_policy()


def judged(
    baseline: list[EvaluationRecord],
    candidate: list[EvaluationRecord],
    hypothesis: ImprovementHypothesis = TARGET,
    policy: Policy = POLICY,
) -> tuple[Comparison, Decision]:
    found = compare(hypothesis, baseline, candidate, policy)
    return found, decide(found, policy)


def status(found: Comparison, metric: str, scope: str = "suite") -> str:
    (limit,) = [g for g in found.guardrails if (g.metric, g.scope) == (metric, scope)]
    return limit.status


BETTER = ("0" * 40 + "1" * 60, "1" * 38 + "01" + "1" * 60)


def test_a_demonstrated_gain_within_all_limits_is_deployed() -> None:
    found, decision = judged(arm("x", "a", BETTER[0]), arm("x", "a", BETTER[1]))
    assert decision.decision == "deploy"
    assert decision.required == ()
    uplift = found.target.uplift
    assert uplift is not None
    assert uplift.better_p == pytest.approx(
        stats.binomtest(39, 39, 0.5, alternative="greater").pvalue, rel=1e-12
    )
    assert (uplift.improved, uplift.worsened, uplift.tasks) == (39, 0, 100)
    assert decision.cost_benefit_score == pytest.approx(0.39)
    assert all(limit.status == "passed" for limit in found.guardrails)


def test_a_gain_of_noise_is_not() -> None:
    # 5 tasks, three of them better: the point rules deploy this.
    baseline, candidate = arm("x", "a", "00011"), arm("x", "a", "11111")
    _, decision = judged(baseline, candidate)
    assert decision.decision == "insufficient_data"
    assert decision.required[0].tasks is not None
    assert decision.required[0].tasks > 5
    points = load_policy("equaxis-v1")
    assert judged(baseline, candidate, policy=points)[1].decision == "deploy"


def test_an_unmeasured_cost_is_listed_and_blocks() -> None:
    candidate = arm("x", "a", BETTER[1], cost_usd=None)
    found, decision = judged(arm("x", "a", BETTER[0]), candidate)
    assert decision.decision == "scoped"
    assert decision.not_evaluated == ("cost@target", "cost@suite")
    assert status(found, "cost") == "not_evaluated"
    allowed = load_policy({"unmeasured": "allow"})
    assert judged(arm("x", "a", BETTER[0]), candidate, policy=allowed)[1].decision == "deploy"


def test_safety_that_only_one_arm_evaluated_blocks() -> None:
    baseline = arm("x", "a", BETTER[0], safety_evaluated=False, safety_violation=None)
    found, decision = judged(baseline, arm("x", "a", BETTER[1]))
    assert decision.decision == "scoped"
    assert status(found, "safety") == "not_evaluated"


def test_a_safety_regression_is_rejected_not_scoped() -> None:
    candidate = arm("x", "a", BETTER[1], safety_violation=True)
    _, decision = judged(arm("x", "a", BETTER[0]), candidate)
    assert decision.decision == "reject"
    assert "safety" in decision.reason


def test_a_guardrail_outside_the_target_counts() -> None:
    baseline = arm("x", "a", BETTER[0]) + arm("y", "b", "1" * 60)
    candidate = arm("x", "a", BETTER[1]) + arm("y", "b", "1" * 60, latency_ms=10_000.0)
    found, decision = judged(baseline, candidate)
    assert status(found, "latency_p95", "target") == "passed"
    assert status(found, "latency_p95") == "failed"
    assert decision.decision == "scoped"


def test_harm_elsewhere_scopes_and_harm_to_the_suite_rejects() -> None:
    other = "1" * 12
    baseline = arm("x", "a", BETTER[0]) + arm("y", "b", other)
    candidate = arm("x", "a", BETTER[1]) + arm("y", "b", "0" * 11 + "1")
    found, decision = judged(baseline, candidate)
    assert [row.capability for row in found.regressions] == ["b"]
    assert decision.decision == "scoped"
    worse = arm("x", "a", BETTER[1]) + arm("y", "b", "0" * 200)
    _, decision = judged(arm("x", "a", BETTER[0]) + arm("y", "b", "1" * 200), worse)
    assert decision.decision == "reject"
    assert "the whole suite" in decision.reason


def test_one_task_worse_is_no_regression() -> None:
    baseline = arm("x", "a", BETTER[0]) + arm("y", "b", "1")
    candidate = arm("x", "a", BETTER[1]) + arm("y", "b", "0")
    found, decision = judged(baseline, candidate)
    assert found.regressions == ()
    assert decision.decision == "deploy"


def test_one_network_error_stops_nothing() -> None:
    candidate = arm("x", "a", "x" + BETTER[1][1:])
    found, decision = judged(arm("x", "a", BETTER[0]), candidate)
    assert status(found, "infrastructure") == "passed"
    assert decision.decision == "deploy"


def test_better_only_because_failures_are_missing() -> None:
    # The candidate lost the 30 tasks that it would have failed.
    baseline = arm("x", "a", "1" * 15 + "0" * 15 + "0" * 10 + "1" * 60)
    candidate = arm("x", "a", "x" * 30 + "1" * 10 + "1" * 60)
    found, decision = judged(baseline, candidate)
    assert decision.decision == "insufficient_data"
    assert "30 attempts without a verdict" in decision.reason
    assert decision.constraints["betterOnlyWithoutMissing"]
    assert status(found, "infrastructure") == "failed"
    tipping = found.tipping_point
    assert tipping is not None
    assert tipping.missing == 30
    assert tipping.against is not None
    assert 0 < tipping.against <= 30


@pytest.mark.parametrize("verdict", [True, False])
def test_the_verdict_of_a_spoilt_attempt_is_kept_and_decides_nothing(verdict: bool) -> None:
    baseline, rest = arm("x", "a", BETTER[0]), arm("x", "a", BETTER[1])[10:]
    spoilt, judged_too = (
        [*arm("x", "a", "x" * 10, success=success), *rest] for success in (None, verdict)
    )
    (without, first), (with_, second) = (judged(baseline, one) for one in (spoilt, judged_too))
    assert first == second
    assert (without.target, without.guardrails) == (with_.target, with_.guardrails)
    before, after = diagnose(spoilt), diagnose(judged_too)
    assert before.task_quality == after.task_quality
    assert before.capability_matrix == after.capability_matrix
    assert before.infrastructure.bounds == after.infrastructure.bounds
    # The totals of everything that was run do hold it.
    assert after.overall.unjudged == before.overall.unjudged - 10


def test_tasks_of_one_arm_alone_are_listed_and_count_against() -> None:
    baseline = arm("x", "a", BETTER[0] + "1" * 60)
    candidate = [*arm("x", "a", BETTER[1]), *arm("x", "c", "11")]
    found, decision = judged(baseline, candidate)
    assert len(found.coverage.baseline_only) == 60
    assert found.coverage.candidate_only == ("c-000", "c-001")
    assert decision.decision != "deploy"
    lenient = load_policy({"unpaired": "ignore"})
    assert judged(baseline, candidate, policy=lenient)[1].decision == "deploy"


def test_disjoint_arms_are_refused() -> None:
    with pytest.raises(EvaluationError, match="no task in common"):
        judged(arm("x", "a", "11"), arm("x", "b", "11"))
    with pytest.raises(EvaluationError, match="candidate has no attempt"):
        judged(arm("x", "a", "11"), [])


def test_changed_tasks_are_refused_or_left_out() -> None:
    baseline = arm("x", "a", BETTER[0], task_version="1")
    candidate = arm("x", "a", BETTER[1], task_version="1")
    candidate[0] = candidate[0].model_copy(update={"task_version": "2"})
    with pytest.raises(EvaluationError, match="1 tasks were changed.*a-000"):
        judged(baseline, candidate)
    lenient = load_policy({"changed_versions": "exclude"})
    found, _ = judged(baseline, candidate, policy=lenient)
    assert found.coverage.changed_versions == ("a-000",)
    assert found.coverage.paired_tasks == 99


def test_the_baseline_that_chose_the_target_does_not_confirm_it() -> None:
    records = arm("x", "a", BETTER[0])
    (chosen,) = hypothesize(diagnose(records))
    found, decision = judged(records, arm("x", "a", BETTER[1]), chosen)
    assert found.design.baseline_reused
    assert decision.decision == "insufficient_data"
    assert "run it again" in decision.reason
    fresh = [record.model_copy(update={"trial_id": "second"}) for record in records]
    found, decision = judged(fresh, arm("x", "a", BETTER[1]), chosen)
    assert not found.design.baseline_reused
    assert decision.decision == "deploy"


def test_attempts_at_a_task_are_one_piece_of_evidence() -> None:
    # Four tasks of 50 attempts each: 200 attempts, and four tasks decide nothing.
    few = judged(list(again(arm("x", "a", "0000"), 50)), list(again(arm("x", "a", "1111"), 50)))
    assert few[1].decision == "insufficient_data"
    assert "4 tasks are too few" in few[1].reason
    many = judged(
        list(again(arm("x", "a", BETTER[0]), 3)), list(again(arm("x", "a", BETTER[1]), 3))
    )
    uplift = many[0].target.uplift
    assert uplift is not None
    assert (uplift.tasks, uplift.attempts) == (100, 300)
    assert many[1].decision == "deploy"


def test_an_uplift_that_is_surely_small_is_rejected() -> None:
    outcomes = "1" * 300 + "0" * 300
    _, decision = judged(arm("x", "a", outcomes), arm("x", "a", outcomes))
    assert decision.decision == "reject"
    assert "below the floor" in decision.reason


def test_totals_are_compared_task_by_task() -> None:
    rng = np.random.default_rng(3)
    tokens = rng.lognormal(6, 1, (2, 30)).astype(int)
    arms = [
        [
            record.model_copy(update={"total_tokens": int(value)})
            for record, value in zip(again(arm("x", "a", "1" * 15), 2), values, strict=True)
        ]
        for values in tokens
    ]
    found, _ = judged(*arms)
    (limit,) = [g for g in found.guardrails if (g.metric, g.scope) == ("tokens", "suite")]
    before, after = tokens.reshape(2, 15, 2).sum(axis=2)
    wanted = paired_ratio(before, after)
    assert limit.tasks == 15
    assert limit.change == pytest.approx(tokens[1].sum() / tokens[0].sum() - 1, rel=1e-12)
    assert limit.interval is not None
    assert limit.interval.high == pytest.approx(float(wanted.high) - 1, rel=1e-12)


def test_a_baseline_that_cost_nothing() -> None:
    free: dict[str, Any] = {"cost_usd": 0.0}
    found, _ = judged(arm("x", "a", BETTER[0], **free), arm("x", "a", BETTER[1], **free))
    assert status(found, "cost") == "passed"
    found, decision = judged(arm("x", "a", BETTER[0], **free), arm("x", "a", BETTER[1]))
    assert status(found, "cost") == "failed"
    assert decision.decision == "scoped"


def test_the_order_of_records_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    baseline = list(again(arm("x", "a", "0110" * 6) + arm("y", "b", "01" * 9), 2))
    candidate = list(again(arm("x", "a", "1110" * 6) + arm("y", "b", "11" * 9), 2))
    first = compare(TARGET, baseline, candidate).model_dump_json()
    rng.shuffle(baseline)
    rng.shuffle(candidate)
    assert compare(TARGET, baseline, candidate).model_dump_json() == first


def test_identifiers_of_hypotheses_come_from_their_content() -> None:
    records = arm("x", "b", "0" * 10) + arm("y", "a", "0" * 8 + "11")
    one, two = hypothesize(diagnose(records))
    assert (one.id, two.id) == ("deep-b", "deep-a")
    (alone,) = hypothesize(diagnose(arm("y", "a", "0" * 8 + "11")))
    assert alone.id == two.id
    assert alone.required is not None


def test_two_capabilities_have_two_identifiers() -> None:
    made = hypothesize(diagnose(arm("x", "c", "0" * 10) + arm("x", "C++", "0" * 10)))
    assert sorted(one.id[:7] for one in made) == ["deep-c", "deep-c-"]


def test_a_run_made_again_is_not_the_same_though_nothing_tells_them_apart() -> None:
    bare: dict[str, Any] = {"latency_ms": None, "total_tokens": None, "cost_usd": None}
    first, again_ = arm("x", "a", BETTER[0], **bare), arm("x", "a", "1" + BETTER[0][1:], **bare)
    (chosen,) = hypothesize(diagnose(first))
    candidate = arm("x", "a", BETTER[1], **bare)
    assert compare(chosen, first, candidate).design.baseline_reused
    assert not compare(chosen, again_, candidate).design.baseline_reused


def test_safety_on_too_few_repeated_tasks_is_open() -> None:
    facts: dict[str, Any] = {"safety_evaluated": False, "safety_violation": None}
    arms = [
        list(again(arm("x", "a", outcomes, **facts) + arm("y", "b", "1" * 3), 4))
        for outcomes in BETTER
    ]
    found, decision = judged(*arms)
    assert status(found, "safety") == "inconclusive"
    assert decision.decision == "scoped"


def test_cycles() -> None:
    previous = diagnose(arm("x", "a", "0000111111") + arm("y", "b", "1111100000"))
    current = diagnose(arm("x", "a", "1111111111") + arm("z", "b", "1111100000"))
    change = compare_cycles(previous, current)
    assert (change.previous_rate, change.current_rate) == (0.55, 0.75)
    assert change.codes[0].count_delta == -4
    assert [(r.task_area, r.previous_failures, r.current_failures) for r in change.regions] == [
        ("y", 5, 0),
        ("z", 0, 5),
        ("x", 4, 0),
    ]
    assert change.success_rate_change is not None
    low, high = change.success_rate_change.low, change.success_rate_change.high
    # Newcombe's method 10 for 11/20 and 15/20, from scipy's Wilson intervals.
    first, second = (stats.binomtest(k, 20).proportion_ci(method="wilson") for k in (11, 15))
    assert low == pytest.approx(0.2 - np.hypot(first.high - 0.55, 0.75 - second.low), abs=1e-9)
    assert high == pytest.approx(0.2 + np.hypot(0.55 - first.low, second.high - 0.75), abs=1e-9)
