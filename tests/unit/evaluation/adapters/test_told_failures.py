"""What runners say of failures, on files that they wrote: who failed, and whether it was judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import EvaluationError
from assay.evaluation.adapters import read_records

RUNNERS = Path(__file__).parents[3] / "data" / "runners"


def told(path: Path) -> dict[str, tuple[bool | None, str | None, bool]]:
    """Return task → verdict, code, and whether the surroundings failed."""
    return {
        record.task_id.rsplit("/", 1)[-1]: (
            record.success,
            record.failure_code,
            record.infrastructure,
        )
        for record in read_records(path)
    }


def test_swe_bench_keeps_its_verdicts_and_tells_three_kinds_of_error_apart() -> None:
    found = told(RUNNERS / "swe_bench" / "stand-in.run.json")
    assert {name.removeprefix("toy__sums-"): outcome for name, outcome in found.items()} == {
        "0": (True, None, False),
        "1": (False, "FUNCTIONAL_VERIFIER_FAILED", False),
        "2": (False, "AGENT_EXECUTION_ERROR", False),  # the patch is empty
        "3": (False, "AMBIGUOUS_FAILURE", False),  # an error: the patch does not apply
        "4": (False, "AMBIGUOUS_FAILURE", False),  # an error of which nothing is known
        "5": (False, "ENVIRONMENT_FAILED", True),  # an error: the container was gone
        "6": (False, "ENVIRONMENT_FAILED", True),  # not resolved: no memory
        "7": (False, "AMBIGUOUS_FAILURE", False),  # an error: the tests took too long
        "8": (None, "VERIFIER_RESULT_MISSING", True),  # no prediction
    }


def test_swe_bench_a_report_of_one_instance(tmp_path: Path) -> None:
    base = '"patch_is_None": %s, "patch_exists": true, "patch_successfully_applied": %s'
    rows = {
        "a": base % ("false", "true") + ', "resolved": false, "infra_failure": false',
        "b": base % ("true", "false") + ', "resolved": false, "infra_failure": false',
        "c": base % ("false", "false") + ', "resolved": false, "infra_failure": false',
        "d": base % ("false", "false") + ', "resolved": false, "infra_failure": true',
    }
    text = ", ".join(f'"{name}": {{{facts}}}' for name, facts in rows.items())
    (tmp_path / "report.json").write_text(f"{{{text}}}")
    found = told(tmp_path)
    assert [found[name][1] for name in "abcd"] == [
        "FUNCTIONAL_VERIFIER_FAILED",
        "AGENT_EXECUTION_ERROR",
        "AMBIGUOUS_FAILURE",
        "ENVIRONMENT_FAILED",
    ]
    assert [found[name][0] for name in "abcd"] == [False] * 4


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        ('{"resolved_ids": ["a"], "error_ids": ["a"]}', "a has two outcomes"),
        ('{"resolved_ids": [], "infra_failure_ids": ["a"]}', "a failed, but has no outcome"),
        ('{"resolved_ids": {"a": 1}}', "`resolved_ids` is no list"),
    ],
)
def test_swe_bench_a_report_that_contradicts_itself(
    tmp_path: Path, report: str, problem: str
) -> None:
    (tmp_path / "x.json").write_text(report)
    with pytest.raises(EvaluationError, match=problem):
        told(tmp_path / "x.json")


def test_inspect_limits_are_the_agents_own_budget() -> None:
    found = told(RUNNERS / "inspect" / "limits.json")
    own = {name: found[name] for name in ("token", "cost", "time", "message", "turn", "custom")}
    assert own == {
        "token": (False, "CONTEXT_EXHAUSTED", False),
        "cost": (False, "CONTEXT_EXHAUSTED", False),
        # Not scored at all: it ran out of time, and has not passed.
        "time": (False, "TASK_TIMEOUT", False),
        "message": (False, "TASK_TIMEOUT", False),
        "turn": (False, "TASK_TIMEOUT", False),
        "custom": (False, "TASK_TIMEOUT", False),
    }
    assert found["operator"] == (False, "CANCELLED", True)


def test_inspect_a_missing_score_is_the_models_or_the_graders() -> None:
    found = told(RUNNERS / "inspect" / "limits.json")
    assert found["silent"] == (False, "FUNCTIONAL_VERIFIER_FAILED", False)
    assert found["refused"] == (False, "AGENT_REFUSED", False)
    assert found["grader"] == (None, "VERIFIER_ERROR", True)
    assert found["unscored"] == (None, "VERIFIER_RESULT_MISSING", True)
    assert found["right"] == (True, None, False)


def test_inspect_a_negative_score_is_kept() -> None:
    scores = {r.task_id: r.score for r in read_records(RUNNERS / "inspect" / "limits.json")}
    assert scores["limits/negative"] == -1.5


def test_terminal_bench_without_a_verdict_the_mode_says_who_failed() -> None:
    found = told(RUNNERS / "terminal_bench")
    agent = {
        "late": "TASK_TIMEOUT",
        "long": "CONTEXT_EXHAUSTED",
        "wordy": "CONTEXT_EXHAUSTED",
        "garbled": "AGENT_EXECUTION_ERROR",
        "broke": "AGENT_EXECUTION_ERROR",
    }
    around = {
        "tests-late": "VERIFIER_ERROR",
        "unreadable": "VERIFIER_ERROR",
        "uninstalled": "AGENT_SETUP_FAILED",
        "unknown": "VERIFIER_RESULT_MISSING",
        "unset": "VERIFIER_RESULT_MISSING",
        "harness": "ENVIRONMENT_FAILED",
    }
    assert {name: found[name] for name in agent} == {
        name: (False, code, False) for name, code in agent.items()
    }
    assert {name: found[name] for name in around} == {
        name: (None, code, True) for name, code in around.items()
    }
    assert found["late-but-passed"] == (True, "TASK_TIMEOUT", False)
