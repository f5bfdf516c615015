"""The published values of the original core, and its rules to the letter."""

from __future__ import annotations

import pytest

from assay.evaluation.decision import decide, next_focus
from assay.evaluation.diagnosis import diagnose
from assay.evaluation.experiment import compare
from assay.evaluation.hypotheses import hypothesize
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.record import EvaluationRecord
from support.attempts import arm

V1 = "equaxis-v1"
SEARCH = "0000001111"
EDIT = "0111111111"


def suite(search: str, edit: str, **facts: object) -> list[EvaluationRecord]:
    return arm("navigation", "search", search, failure_code="TOOL_SELECTION_FAILED", **facts) + arm(
        "editing", "edit", edit, **facts
    )


@pytest.fixture
def baseline() -> list[EvaluationRecord]:
    return suite(SEARCH, EDIT)


@pytest.fixture
def hypothesis(baseline: list[EvaluationRecord]) -> ImprovementHypothesis:
    return hypothesize(diagnose(baseline, policy=V1), V1)[0]


def test_ten_search_and_ten_edit_tasks(
    baseline: list[EvaluationRecord], hypothesis: ImprovementHypothesis
) -> None:
    found = diagnose(baseline, policy=V1)
    assert found.overall.success_rate == 0.65
    assert found.failure_regions[0].task_area == "navigation"
    assert found.weak_capabilities[0].capability == "search"
    assert found.weak_capabilities[0].gap_to_expected == 0.4
    assert (hypothesis.id, hypothesis.layer, hypothesis.phase) == (
        "H1-surface-search",
        "surface",
        1,
    )
    assert (hypothesis.expected_uplift, hypothesis.target_success_rate) == (0.2, 0.6)
    assert next_focus(found)[0].failure_share == 0.8571


def test_a_better_candidate_is_deployed(
    baseline: list[EvaluationRecord], hypothesis: ImprovementHypothesis
) -> None:
    candidate = suite("0011111111", EDIT, latency_ms=105.0, total_tokens=105)
    found = compare(hypothesis, baseline, candidate, V1)
    decision = decide(found, V1)
    assert found.target.success_rate_uplift == 0.4
    assert (found.target.latency_change_rate, found.target.token_change_rate) == (0.05, 0.05)
    assert decision.decision == "deploy"
    assert found.failure_patterns.by_code[0].count_delta == -4
    assert decision.cost_benefit_score == round(0.4 / 1.1, 4)


def test_a_loss_elsewhere_scopes_it(
    baseline: list[EvaluationRecord], hypothesis: ImprovementHypothesis
) -> None:
    candidate = suite("0011111111", "0000011111", latency_ms=105.0, total_tokens=105)
    decision = decide(compare(hypothesis, baseline, candidate, V1), V1)
    assert decision.decision == "scoped"
    assert decision.constraints["hasRegression"]


@pytest.mark.parametrize(
    ("search", "facts", "decision", "constraint"),
    [
        ("0000001111", {}, "reject", None),
        ("0011111111", {"latency_ms": 121.0}, "scoped", "latencyExpensive"),
        ("0011111111", {"latency_ms": 120.0}, "deploy", None),
        ("0011111111", {"total_tokens": 121}, "scoped", "tokenExpensive"),
        ("0011111111", {"cost_usd": 0.012}, "scoped", "costExpensive"),
        ("0011111111", {"safety_violation": True}, "scoped", "safetyRegression"),
        # Unknown is taken for fine: what the tests do not repeat.
        ("0011111111", {"cost_usd": None}, "deploy", None),
        ("0011111111", {"safety_evaluated": False, "safety_violation": None}, "deploy", None),
    ],
)
def test_every_limit(
    baseline: list[EvaluationRecord],
    hypothesis: ImprovementHypothesis,
    search: str,
    facts: dict,
    decision: str,
    constraint: str | None,
) -> None:
    found = decide(compare(hypothesis, baseline, suite(search, EDIT, **facts), V1), V1)
    assert found.decision == decision
    assert [name for name, broken in found.constraints.items() if broken] == (
        [constraint] if constraint else []
    )


def test_too_few_attempts(
    baseline: list[EvaluationRecord], hypothesis: ImprovementHypothesis
) -> None:
    found = decide(compare(hypothesis, baseline, arm("navigation", "search", "1111"), V1), V1)
    assert found.decision == "insufficient_data"
    assert found.cost_benefit_score is None


def test_an_infrastructure_failure_blocks_at_any_size(
    baseline: list[EvaluationRecord], hypothesis: ImprovementHypothesis
) -> None:
    found = decide(compare(hypothesis, baseline, suite("x011111111", EDIT), V1), V1)
    assert found.constraints["infrastructureRegression"]


def test_the_published_report() -> None:
    """15 attempts, 13 passed, one lost to the infrastructure; input-validation is weak."""
    records = [
        *arm("validation", "input-validation", "110", expected_success_rate=2.5 / 3),
        *arm("other", "parsing", "11111111111", expected_success_rate=0.8),
        *arm("other", "paginate", "x", expected_success_rate=0.8),
    ]
    records[2] = records[2].model_copy(update={"failure_code": "TASK_INPUT_REJECTED"})
    found = diagnose(records, policy=V1)
    assert (found.overall.success_rate, found.task_quality.success_rate) == (0.8667, 0.9286)
    assert found.infrastructure.affected_tasks == ("paginate-000",)
    (weak,) = found.weak_capabilities
    assert (weak.capability, weak.attempts, weak.success_rate) == ("input-validation", 3, 0.6667)
    assert weak.gap_to_expected == 0.1666
    (made,) = hypothesize(found, V1)
    assert (made.id, made.expected_uplift) == ("H1-middle-input-validation", 0.0833)
    assert made.target_success_rate == 0.75
    assert next_focus(found)[0].failure_share == 1.0


def test_without_a_weak_capability_the_lowest_three_with_failures() -> None:
    records = [
        record
        for tag, outcomes in (("a", "1" * 19 + "0"), ("b", "1" * 9 + "0"), ("c", "1" * 10))
        for record in arm(tag, tag, outcomes)
    ]
    assert [made.capability_tags for made in hypothesize(diagnose(records, policy=V1), V1)] == [
        ("b",),
        ("a",),
    ]


def test_one_rare_argument_code_makes_it_surface() -> None:
    records = arm("x", "a", "0000000000")
    rare = {"failure_code": "TOOL_ARGUMENT_REPAIR_EXHAUSTED"}
    records[0] = records[0].model_copy(update=rare)
    (first,) = hypothesize(diagnose(records, policy=V1), V1)
    (second,) = hypothesize(diagnose(records))
    assert (first.layer, second.layer) == ("surface", "deep")
