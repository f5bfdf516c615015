"""Where a baseline fails: numbers against pandas and scipy, and what unknown means."""

from __future__ import annotations

import itertools
import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assay.core.errors import EvaluationError
from assay.evaluation import aggregates
from assay.evaluation.decision import next_focus
from assay.evaluation.diagnosis import diagnose
from assay.evaluation.hypotheses import hypothesize
from assay.evaluation.policy import load_policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.results import Aggregate, Diagnosis
from assay.evaluation.table import Table, same_attempts
from assay.evaluation.weak import weakness
from support.attempts import again, arm


@pytest.fixture(scope="module")
def mixed() -> list[EvaluationRecord]:
    """Return 600 attempts with everything unknown somewhere."""
    rng = np.random.default_rng(5)
    records = []
    for k in range(600):
        spoilt, judged = rng.random() < 0.1, rng.random() < 0.95
        success = bool(rng.random() < 0.6) if judged and not spoilt else None
        code = "VERIFIER_ERROR" if spoilt else None if success else str(rng.choice(["A", "B"]))
        evaluated = bool(rng.random() < 0.5)
        records.append(
            EvaluationRecord(
                task_id=f"task-{k % 50}",
                attempt=1 + k // 50,
                task_area=f"area-{k % 5}",
                capability_tags=tuple({f"tag-{k % 3}", f"tag-{k % 7}"}),
                success=success,
                failure_code=code,
                failure_class="infrastructure" if spoilt else "capability" if code else None,
                latency_ms=None if rng.random() < 0.2 else float(rng.lognormal(3, 1)),
                cost_usd=None if rng.random() < 0.5 else float(rng.random()),
                input_tokens=int(rng.integers(1, 99)),
                output_tokens=None if rng.random() < 0.3 else int(rng.integers(1, 99)),
                safety_evaluated=evaluated,
                safety_violation=bool(rng.random() < 0.1) if evaluated else None,
            )
        )
    return records


def frame(records: list[EvaluationRecord]) -> pd.DataFrame:
    rows = [{**r.model_dump(by_alias=False), "infra": r.infrastructure} for r in records]
    return pd.DataFrame(rows)


def assert_aggregate(found: Aggregate, rows: pd.DataFrame) -> None:
    judged = rows.success.dropna().astype(bool)
    assert (found.attempts, found.unjudged) == (len(rows), len(rows) - len(judged))
    assert (found.successes, found.failures) == (judged.sum(), (~judged).sum())
    assert found.tasks == rows.task_id.nunique()
    assert found.success_rate == pytest.approx(judged.mean())
    latency = rows.latency_ms.dropna().astype(float)
    assert found.latency_measured == len(latency)
    assert found.average_latency_ms == pytest.approx(latency.mean())
    assert found.median_latency_ms == pytest.approx(latency.median())
    assert found.p95_latency_ms == pytest.approx(latency.quantile(0.95))
    assert found.average_cost_usd == pytest.approx(rows.cost_usd.dropna().mean())
    total = (rows.input_tokens + rows.output_tokens).dropna()
    assert found.tokens_measured == len(total)
    assert found.average_total_tokens == pytest.approx(total.mean())
    safety = rows.safety_violation.dropna().astype(bool)
    assert (found.safety_evaluated, found.safety_violations) == (len(safety), safety.sum())
    assert found.safety_violation_rate == pytest.approx(safety.mean())


def test_every_aggregate_is_what_pandas_says(mixed: list[EvaluationRecord]) -> None:
    found, rows = diagnose(iter(mixed)), frame(mixed)
    assert_aggregate(found.overall, rows)
    quality = rows[~rows.infra]
    assert_aggregate(found.task_quality, quality)
    assert found.task_quality.excluded_infrastructure_failures == rows.infra.sum()
    for row in found.task_table:
        assert_aggregate(row, quality[quality.task_id == row.task_id])
    for tag in found.capability_matrix:
        tagged = quality[quality.capability_tags.map(lambda tags, t=tag.capability: t in tags)]
        assert_aggregate(tag, tagged)
        for area, part in tag.areas.items():
            assert_aggregate(part, tagged[tagged.task_area == area])
    for region in found.failure_regions:
        inside = quality[quality.task_area == region.task_area]
        assert_aggregate(region, inside)
        failed = inside[inside.success == False]  # noqa: E712 - None is no failure
        assert region.failure_codes == failed.failure_code.value_counts().to_dict()
    assert sum(region.failure_share for region in found.failure_regions) == pytest.approx(1)


def test_bounds_and_infrastructure(mixed: list[EvaluationRecord]) -> None:
    found, rows = diagnose(mixed), frame(mixed)
    right = (rows.success == True).sum()  # noqa: E712
    missing = rows.success.isna().sum()
    bounds = found.infrastructure.bounds
    assert bounds is not None
    assert bounds.low == pytest.approx(right / 600)
    assert bounds.high == pytest.approx((right + missing) / 600)
    assert found.infrastructure.failure_codes == {"VERIFIER_ERROR": int(rows.infra.sum())}


def test_a_pass_that_the_infrastructure_spoilt_is_no_pass() -> None:
    spoilt = arm("x", "a", "x", success=True)
    found = diagnose(spoilt + arm("x", "b", "10"))
    assert (found.infrastructure.passed, found.task_quality.successes) == (1, 1)
    assert found.task_quality.success_rate == 0.5


@pytest.mark.parametrize("policy", ["statistical", "equaxis-v1"])
def test_working_memory_changes_nothing(
    mixed: list[EvaluationRecord], monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    whole = diagnose(mixed, policy=policy)
    for size in (1, 37, 250):
        monkeypatch.setattr(aggregates, "_AT_ONCE", size)
        assert diagnose(mixed, policy=policy) == whole


def test_the_order_of_records_changes_nothing(mixed: list[EvaluationRecord]) -> None:
    shuffled = [mixed[k] for k in np.random.default_rng(0).permutation(len(mixed))]
    one, two = diagnose(mixed), diagnose(shuffled)
    assert [row.task_id for row in one.task_table] == [row.task_id for row in two.task_table]
    assert one.failure_regions[0].failure_codes == two.failure_regions[0].failure_codes
    assert one.sample == two.sample
    assert [h.id for h in hypothesize(one)] == [h.id for h in hypothesize(two)]


def test_it_is_written_as_its_schema_says(mixed: list[EvaluationRecord]) -> None:
    text = diagnose(mixed).model_dump_json()
    jsonschema.validate(json.loads(text), Diagnosis.model_json_schema(mode="serialization"))
    assert Diagnosis.model_validate_json(text).model_dump_json() == text


def test_unknown_tokens_are_not_zero() -> None:
    records = arm("x", "a", "11") + arm("x", "b", "11", total_tokens=None)
    assert diagnose(records).overall.average_total_tokens == 100
    assert diagnose(records, policy="equaxis-v1").overall.average_total_tokens == 50


def test_codes_lead_by_frequency_not_by_appearance() -> None:
    records = arm("x", "a", "0", failure_code="RARE") + arm("x", "b", "00000", failure_code="OFTEN")
    assert next_focus(diagnose(records))[0].leading_failure_codes == ("OFTEN", "RARE")
    first = next_focus(diagnose(records, policy="equaxis-v1"))[0]
    assert first.leading_failure_codes == ("RARE", "OFTEN")


def test_codes_of_the_infrastructure_suggest_no_change() -> None:
    spoilt = arm("x", "a", "x" * 9, failure_code="PROMPT_SERVER_DOWN")
    timeouts = arm("x", "a", "0" * 8, failure_code="TASK_TIMEOUT")
    records = [r.model_copy(update={"task_id": f"t{k}"}) for k, r in enumerate(spoilt + timeouts)]
    assert hypothesize(diagnose(records))[0].layer == "middle"


def test_a_taxonomy_labels_records() -> None:
    class Everything:
        def label(self, record: EvaluationRecord) -> EvaluationRecord:
            return record.model_copy(update={"task_area": "labelled"})

    assert diagnose(arm("x", "a", "10"), Everything()).task_table[0].task_area == "labelled"


def test_nothing_to_diagnose() -> None:
    with pytest.raises(EvaluationError, match="no attempt"):
        diagnose([])


def test_only_infrastructure() -> None:
    found = diagnose(arm("x", "a", "xxx"))
    assert found.task_quality.success_rate is None
    assert (found.capability_matrix, found.failure_regions, found.passes) == ((), (), ())
    assert hypothesize(found) == ()


def test_repeated_attempts_against_all_subsets() -> None:
    found = diagnose(list(again(arm("x", "a", "1"), 3)) + list(again(arm("x", "b", "0"), 3)))
    assert [(p.k, p.pass_at_k, p.pass_hat_k) for p in found.passes] == [
        (k, 0.5, 0.5) for k in (1, 2, 3)
    ]
    assert found.flip_rate == 0
    outcomes = [True, True, False, False, False]
    records = [
        r.model_copy(update={"success": s})
        for r, s in zip(again(arm("x", "a", "1"), 5), outcomes, strict=True)
    ]
    found = diagnose(records)
    for rate in found.passes:
        drawn = list(itertools.combinations(outcomes, rate.k))
        assert rate.pass_at_k == pytest.approx(np.mean([any(d) for d in drawn]))
        assert rate.pass_hat_k == pytest.approx(np.mean([all(d) for d in drawn]))
    pairs = list(itertools.combinations(outcomes, 2))
    assert found.flip_rate == pytest.approx(np.mean([a != b for a, b in pairs]))


def test_weak_is_what_the_exact_test_says() -> None:
    found = diagnose(arm("x", "a", "0" * 6 + "1" * 4, expected_success_rate=0.8))
    (row,) = found.capability_matrix
    assert row.test is not None
    assert row.test.p_value == pytest.approx(stats.binomtest(4, 10, 0.8, "less").pvalue, rel=1e-12)
    assert row.weak


def test_a_gap_of_noise_is_not_weak() -> None:
    # Two of three: a gap of .13, and nothing that three attempts could show.
    records = arm("x", "a", "110", expected_success_rate=0.8)
    assert diagnose(records).weak_capabilities == ()
    assert len(diagnose(records, policy="equaxis-v1").weak_capabilities) == 1


def test_attempts_at_one_task_say_little_of_a_capability() -> None:
    found = diagnose(list(again(arm("x", "a", "0", expected_success_rate=0.8), 50)))
    (row,) = found.capability_matrix
    assert row.test is not None
    assert row.test.p_value == pytest.approx(0.2)
    assert not row.weak


@pytest.mark.parametrize("expected", [0.0, 1.0])
def test_an_expectation_of_all_or_nothing(expected: float) -> None:
    found = diagnose(arm("x", "a", "1111100000", expected_success_rate=expected))
    (row,) = found.capability_matrix
    assert row.weak is (expected == 1.0)


def test_weakness_of_several_attempts() -> None:
    hits = np.array([0, 1, 2, 5, 5, 1, 0, 2])
    five = np.full(8, 5)
    few = weakness(hits, five, np.full(8, 0.3))
    assert few.method.startswith("exact binomial on the tasks' mean rates")
    assert few.p_value == pytest.approx(stats.binom.cdf(4, 8, 0.3))
    many = weakness(hits, five, np.full(8, 0.8))
    # All sign flips of the tasks' sums, by hand.
    sums = hits - 4.0
    flips = [np.dot(sums, signs) for signs in itertools.product((1, -1), repeat=8)]
    assert many.p_value == pytest.approx(np.mean(np.array(flips) <= sums.sum() + 1e-9))
    assert np.isnan(weakness([], [], []).p_value)


def test_samples() -> None:
    records = arm("x", "a", "0" * 200)
    table = Table.of(records)
    assert same_attempts(table.sample, Table.of(reversed(records)).sample)
    more = records + arm("x", "b", "0" * 100)
    assert same_attempts(table.sample, Table.of(more).sample)
    assert not same_attempts((), table.sample)
    other = Table.of(arm("x", "a", "0" * 200, latency_ms=101.0))
    assert not same_attempts(table.sample, other.sample)


def test_a_policy_changes_what_it_says() -> None:
    strict = load_policy({"alpha_weak": 1e-6})
    records = arm("x", "a", "0" * 6 + "1" * 4)
    assert diagnose(records, policy=strict).weak_capabilities == ()
    assert diagnose(records, policy=strict).policy.digest != diagnose(records).policy.digest
