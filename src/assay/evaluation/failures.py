"""What failed, and whether that says anything about the model: rules as data.

An exception's exact name decides; where it says nothing, the phase that the attempt had reached;
where that is unknown, words of the message, of which commands and quoted text are no part. A
pattern looked for anywhere in name and message takes ``RewardFileNotFoundError`` for a network
failure (it contains ENOTFOUND) and an instruction to "install" something for a failed set-up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from assay.core.errors import EvaluationError
from assay.core.validation import validated
from assay.evaluation.record import ClassificationSource, FailureClass, Trace
from assay.evaluation.registries import located

Phase = Literal["environment_setup", "agent_setup", "agent_execution", "verifier", "unknown"]

_DEFAULT = "failure_classes"
#: What a message quotes is an instruction, a command or a file, not what went wrong.
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)
_COMMAND = re.compile(r"(?im)^.*\b(?:command|cmd|instruction|prompt)\b[^\n]*?[:=].*$")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an attempt before its failure has a name.

    Attributes
    ----------
    exception, message : str or None
        Of the exception that ended it; None where none did.
    phase : str
        The phase that it had reached.
    judged : bool
        Whether there is a verdict.
    passed, unsafe : bool or None
        The verdict, and whether safety was violated.
    """

    exception: str | None = None
    message: str = ""
    phase: Phase = "unknown"
    judged: bool = True
    passed: bool | None = None
    unsafe: bool | None = None
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure's code, its kind, and the fact that decided it."""

    code: str
    kind: FailureClass
    source: ClassificationSource


class Classifier(Protocol):
    """Names failures."""

    def classify(self, facts: Facts) -> Failure | None:
        """Return the failure of an attempt, or None where it did not fail."""

    def kind(self, code: str) -> FailureClass:
        """Return what kind of failure a code of a runner is."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class MessageRule(_Strict):
    """A regular expression, looked for as whole words in the message of an exception."""

    pattern: str
    code: str
    phases: tuple[Phase, ...] = ("unknown",)

    @cached_property
    def words(self) -> re.Pattern[str]:
        """The pattern between word boundaries."""
        return re.compile(rf"(?<![A-Za-z0-9_])(?:{self.pattern})(?![A-Za-z0-9_])", re.IGNORECASE)

    @model_validator(mode="after")
    def _is_an_expression(self) -> MessageRule:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(f"{self.pattern!r} is no regular expression ({error})") from error
        return self


class FailureTable(_Strict):
    """Codes with their kinds, and what leads to them.

    Attributes
    ----------
    codes : dict
        Code → ``infrastructure`` (excluded from task quality) or ``capability``. A code that is
        not listed is a failure of the capability.
    exceptions : dict
        Code → exact names of exceptions.
    phases : dict
        Phase → code of an exception of another name in that phase.
    """

    version: Literal[1]
    codes: dict[str, FailureClass] = Field(min_length=1)
    exceptions: dict[str, tuple[str, ...]] = {}
    phases: dict[Phase, str] = {}
    messages: tuple[MessageRule, ...] = ()

    @model_validator(mode="after")
    def _codes_are_listed(self) -> FailureTable:
        used = [*self.exceptions, *self.phases.values(), *(rule.code for rule in self.messages)]
        if strange := sorted(set(used) - set(self.codes)):
            raise ValueError(f"{strange[0]} is not one of `codes`")
        names = [name for listed in self.exceptions.values() for name in listed]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice[0]} is listed for two codes")
        return self

    @cached_property
    def _code_of(self) -> dict[str, str]:
        return {name: code for code, names in self.exceptions.items() for name in names}

    def kind(self, code: str) -> FailureClass:
        """Return what kind of failure a code is."""
        return self.codes.get(code, "capability")

    def classify(self, facts: Facts) -> Failure | None:
        """Return the failure of an attempt, or None where it did not fail."""
        found = self._of_exception(facts) if facts.exception else _of_verdict(facts)
        return found and Failure(found[0], self.kind(found[0]), found[1])

    def _of_exception(self, facts: Facts) -> tuple[str, ClassificationSource]:
        # Some runners write module.Name.
        name = (facts.exception or "").rsplit(".", 1)[-1]
        if code := self._code_of.get(name):
            return code, "exception"
        message = _said(facts.message)
        for rule in self.messages:
            if facts.phase in rule.phases and rule.words.search(message):
                return rule.code, "message"
        if code := self.phases.get(facts.phase):
            return code, "phase"
        return "AGENT_EXECUTION_ERROR", "exception"


def _of_verdict(facts: Facts) -> tuple[str, ClassificationSource] | None:
    """Return the code of an attempt that no exception ended; the order is that of the spec."""
    trace = facts.trace or Trace()
    if not facts.judged:
        return "VERIFIER_RESULT_MISSING", "verdict"
    if facts.unsafe:
        return "SAFETY_VIOLATION", "verdict"
    if facts.passed:
        return None
    if trace.repair_exhausted:
        return "TOOL_ARGUMENT_REPAIR_EXHAUSTED", "trace"
    if trace.blocked_calls:
        return "POLICY_BLOCKED_TASK", "trace"
    if trace.tool_errors:
        return "TOOL_EXECUTION_FAILURE", "trace"
    return "FUNCTIONAL_VERIFIER_FAILED", "verdict"


def _said(message: str) -> str:
    """Return what a message says of its own: without commands and quotations."""
    return _QUOTED.sub(" ", _COMMAND.sub(" ", message[:_LONGEST]))


class EquaxisV1:
    """The published substring rules, kept for the golden tests of the policy `equaxis-v1`."""

    _CODES = (
        (("TIMEOUT", "TIMED OUT"), "TASK_TIMEOUT"),
        (("ECONNREFUSED", "ENOTFOUND", "NETWORK"), "AGENT_SETUP_NETWORK_FAILED"),
        (("SETUP", "INSTALL"), "AGENT_SETUP_FAILED"),
        (("VERIFIER",), "VERIFIER_ERROR"),
    )
    _INFRASTRUCTURE = frozenset(
        {
            "AGENT_SETUP_NETWORK_FAILED",
            "AGENT_SETUP_FAILED",
            "VERIFIER_ERROR",
            "VERIFIER_RESULT_MISSING",
        }
    )

    def kind(self, code: str) -> FailureClass:
        """Return what kind of failure a code is."""
        return "infrastructure" if code in self._INFRASTRUCTURE else "capability"

    def classify(self, facts: Facts) -> Failure | None:
        """Return the failure of an attempt, or None where it did not fail."""
        found = self._of_exception(facts) if facts.exception else _of_verdict(facts)
        return found and Failure(found[0], self.kind(found[0]), found[1])

    def _of_exception(self, facts: Facts) -> tuple[str, ClassificationSource]:
        text = f"{facts.exception} {facts.message}".upper()
        for parts, code in self._CODES:
            if any(part in text for part in parts):
                return code, "message"
        return "AGENT_EXECUTION_ERROR", "exception"


@cache
def failure_table(path: Path | None = None) -> FailureTable:
    """Return a table of failures; ours where no file is named.

    Raises
    ------
    EvaluationError
        If the file cannot be read or is no YAML.
    ConfigError
        If it has an unknown key, or uses a code that it does not list.
    """
    place = path or located("failures", _DEFAULT)
    try:
        content: Any = yaml.safe_load(place.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise EvaluationError(f"this is no table of failures ({reason}).", where=place) from error
    return validated(FailureTable, content, where=place)
