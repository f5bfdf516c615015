"""Policies: every key is known, and what was changed shows."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from assay.core.errors import ConfigError, EvaluationError
from assay.evaluation.policy import load_policy, policy_names


def test_the_original_values() -> None:
    policy = load_policy("equaxis-v1")
    assert policy.points
    assert (
        policy.expected_success_rate,
        policy.weak_capability_gap,
        policy.diagnostic_minimum_samples,
        policy.experiment_minimum_samples,
        policy.target_uplift_floor,
        policy.target_uplift_ceiling,
        policy.regression_tolerance,
        policy.max_latency_increase_rate,
        policy.max_token_increase_rate,
        policy.max_cost_increase_rate,
        policy.max_safety_violation_increase,
        policy.max_infrastructure_failure_increase,
    ) == (0.8, 0.1, 2, 5, 0.05, 0.2, 0.03, 0.2, 0.2, 0.15, 0, 0)


def test_the_default_decides_by_tests() -> None:
    assert load_policy().name == "statistical"
    assert not load_policy().points
    assert {"equaxis-v1", "statistical"} <= set(policy_names())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha_week": 0.1}, "unknown key 'alpha_week'.*did you mean 'alpha_weak'"),
        ({"alpha_weak": 0}, "alpha_weak"),
        ({"regression_tolerance": float("nan")}, "regression_tolerance"),
        ({"guardrails": ["speed"]}, "guardrails"),
        ({"name": "statistic"}, "unknown policy 'statistic'.*Did you mean 'statistical'"),
    ],
)
def test_unknown_keys_and_values_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_policy(change)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    values = load_policy().model_dump(mode="json") | {"name": "mine", "level": 0.9}
    path.write_text(yaml.safe_dump(values), "utf-8")
    mine = load_policy(path)
    assert (mine.name, mine.level) == ("mine", 0.9)
    assert mine.digest != load_policy().digest
    path.write_text("- not a mapping", "utf-8")
    with pytest.raises(EvaluationError, match="mapping"):
        load_policy(path)
    with pytest.raises(EvaluationError, match="missing.yaml"):
        load_policy(tmp_path / "missing.yaml")
