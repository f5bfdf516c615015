"""What is named which failure: the cases that substrings got wrong, and the published rules."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from assay.core.errors import ConfigError, EvaluationError
from assay.evaluation.failures import EquaxisV1, Facts, FailureTable, failure_table
from assay.evaluation.record import Trace

TABLE = failure_table()


@pytest.mark.parametrize(
    ("facts", "code", "kind", "source"),
    [
        # Names that contain ENOTFOUND, TIMEOUT or SETUP and are neither.
        (Facts("RewardFileNotFoundError"), "VERIFIER_ERROR", "infrastructure", "exception"),
        (Facts("VerifierTimeoutError"), "VERIFIER_ERROR", "infrastructure", "exception"),
        (Facts("AgentSetupTimeoutError"), "AGENT_SETUP_FAILED", "infrastructure", "exception"),
        (
            Facts("EnvironmentStartTimeoutError"),
            "ENVIRONMENT_FAILED",
            "infrastructure",
            "exception",
        ),
        (Facts("ApiRateLimitError"), "MODEL_PROVIDER_FAILED", "infrastructure", "exception"),
        (Facts("CancelledError"), "CANCELLED", "infrastructure", "exception"),
        (Facts("asyncio.CancelledError"), "CANCELLED", "infrastructure", "exception"),
        (Facts("AgentTimeoutError"), "TASK_TIMEOUT", "capability", "exception"),
        (Facts("ContextWindowExceededError"), "CONTEXT_EXHAUSTED", "capability", "exception"),
        (Facts("AgentSafetyRefusalError"), "AGENT_REFUSED", "capability", "exception"),
        # Python's own names say nothing; the phase does.
        (
            Facts("FileNotFoundError", phase="agent_execution"),
            "AGENT_EXECUTION_ERROR",
            "capability",
            "phase",
        ),
        (
            Facts("ModuleNotFoundError", phase="environment_setup"),
            "ENVIRONMENT_FAILED",
            "infrastructure",
            "phase",
        ),
        (Facts("RuntimeError", phase="verifier"), "VERIFIER_ERROR", "infrastructure", "phase"),
        (
            Facts("NonZeroAgentExitCodeError", "npm ECONNREFUSED during install"),
            "AGENT_SETUP_NETWORK_FAILED",
            "infrastructure",
            "message",
        ),
        (
            Facts("NonZeroAgentExitCodeError", "npm ECONNREFUSED", phase="agent_execution"),
            "AGENT_EXECUTION_ERROR",
            "capability",
            "phase",
        ),
    ],
)
def test_a_name_or_a_phase_decides(facts: Facts, code: str, kind: str, source: str) -> None:
    found = TABLE.classify(facts)
    assert found is not None
    assert (found.code, found.kind, found.source) == (code, kind, source)


@pytest.mark.parametrize(
    "message",
    [
        "Command failed (exit 1): timeout 600 claude --print x",
        'agent exited with 1 after "build a neural network for ECONNREFUSED"',
        "Instruction: please install numpy; handle ENOTFOUND and ETIMEDOUT\nexit 1",
        "claude -p 'setup the network so that ECONNRESET never happens' ended with 1",
        "PRECONNREFUSED",
    ],
)
def test_an_instruction_in_the_message_blames_nobody(message: str) -> None:
    found = TABLE.classify(Facts("NonZeroAgentExitCodeError", message))
    assert found is not None
    assert (found.code, found.kind) == ("AGENT_EXECUTION_ERROR", "capability")


def test_without_an_exception_in_the_order_of_the_spec() -> None:
    trace = Trace(tool_errors=1, blocked_calls=1, repair_exhausted=True)
    facts = [
        (Facts(judged=False, unsafe=True, trace=trace), "VERIFIER_RESULT_MISSING"),
        (Facts(passed=True, unsafe=True, trace=trace), "SAFETY_VIOLATION"),
        (Facts(passed=True, trace=trace), None),
        (Facts(passed=False, trace=trace), "TOOL_ARGUMENT_REPAIR_EXHAUSTED"),
        (Facts(passed=False, trace=Trace(tool_errors=1, blocked_calls=1)), "POLICY_BLOCKED_TASK"),
        (Facts(passed=False, trace=Trace(tool_errors=1)), "TOOL_EXECUTION_FAILURE"),
        (Facts(passed=False, trace=Trace()), "FUNCTIONAL_VERIFIER_FAILED"),
    ]
    for given, code in facts:
        found = TABLE.classify(given)
        assert (found and found.code) == code


@pytest.mark.parametrize(
    ("name", "message", "code"),
    [
        ("RewardFileNotFoundError", "", "AGENT_SETUP_NETWORK_FAILED"),
        ("VerifierTimeoutError", "", "TASK_TIMEOUT"),
        ("NonZeroAgentExitCodeError", "please install numpy", "AGENT_SETUP_FAILED"),
        ("NonZeroAgentExitCodeError", "npm ECONNREFUSED during install", None),
        ("VerifierCrashed", "", "VERIFIER_ERROR"),
        ("CancelledError", "", "AGENT_EXECUTION_ERROR"),
    ],
)
def test_the_published_rules_are_kept_as_they_are(name: str, message: str, code: str) -> None:
    found = EquaxisV1().classify(Facts(name, message))
    assert found is not None
    assert found.code == (code or "AGENT_SETUP_NETWORK_FAILED")


def test_a_code_of_a_runner_is_a_capability_unless_listed() -> None:
    assert TABLE.kind("TOOL_SELECTION_FAILED") == "capability"
    assert TABLE.kind("MODEL_PROVIDER_FAILED") == "infrastructure"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"exceptions": {"NO_CODE": ["A"]}}, "NO_CODE"),
        ({"exceptions": {"A": ["X"], "B": ["X"]}}, "X is listed for two codes"),
        ({"phases": {"lunch": "A"}}, "phases"),
        ({"messages": [{"pattern": "(", "code": "A"}]}, "regular expression"),
        ({"exeptions": {}}, "did you mean 'exceptions'"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, change: dict, problem: str) -> None:
    table = {"version": 1, "codes": {"A": "capability", "B": "infrastructure"}} | change
    (tmp_path / "table.yaml").write_text(yaml.safe_dump(table))
    with pytest.raises(ConfigError, match=problem):
        failure_table(tmp_path / "table.yaml")


def test_no_table(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("a: [")
    for path in (tmp_path / "none.yaml", tmp_path / "t.yaml"):
        with pytest.raises(EvaluationError, match="no table of failures"):
            failure_table(path)


def test_every_name_is_listed_once() -> None:
    assert isinstance(TABLE, FailureTable)
    assert {"VERIFIER_ERROR", "CANCELLED"} <= set(TABLE.codes)
