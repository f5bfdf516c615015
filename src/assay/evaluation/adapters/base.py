"""What every adapter is given, and how it says that a file is not what it should be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from assay.core.errors import EvaluationError
from assay.core.validation import first_problem
from assay.evaluation.adapters.inputs import Inputs
from assay.evaluation.failures import Classifier, EquaxisV1, Facts, failure_table
from assay.evaluation.record import EvaluationRecord


class Options(BaseModel):
    """How a run is read; every adapter takes those that concern it.

    Attributes
    ----------
    variant : str, optional
        The arm that the records belong to, where the run does not say.
    task_id : str, optional
        What a task is called: a regular expression whose first group (or whole match) is the id,
        for arms that rename tasks; or ``@`` and the dotted path of a value in the run's file.
    threshold : float
        The least score that passes.
    reward, metric, filter : str, optional
        Which of several rewards (Harbor), metrics (lm-eval, lighteval, HELM, inspect) or filters
        (lm-eval) is the verdict.
    verdicts : Path, optional
        Records that hold the verdicts of traces, joined by session id.
    classifier : str
        ``table``, or the substring rules of ``equaxis-v1``.
    failures : Path, optional
        A table of failures instead of ours.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )

    variant: str | None = Field(default=None, min_length=1)
    task_id: str | None = Field(default=None, min_length=1)
    threshold: float = Field(default=1.0, allow_inf_nan=False)
    reward: str | None = None
    metric: str | None = None
    filter: str | None = None
    verdicts: Path | None = None
    classifier: Literal["table", "equaxis-v1"] = "table"
    failures: Path | None = None

    @model_validator(mode="after")
    def _is_an_expression(self) -> Options:
        if self.task_id and not self.task_id.startswith("@"):
            try:
                re.compile(self.task_id)
            except re.error as error:
                raise ValueError(f"task_id is no regular expression ({error})") from error
        return self

    @cached_property
    def named(self) -> re.Pattern[str] | None:
        """The expression of `task_id`, if it is one."""
        given = self.task_id
        return re.compile(given) if given and not given.startswith("@") else None


class Part:
    """What is read inside is one part of a run; a generator would cost as much as a record."""

    __slots__ = ("_reading",)

    def __init__(self, reading: Reading):
        self._reading = reading

    def __enter__(self) -> None:
        """Begin the part."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Count an error of the part where the reading keeps going."""
        if not self._reading.keep_going or not isinstance(error, EvaluationError):
            return False
        self._reading.refused.append(error)
        return True


@dataclass
class Reading:
    """One reading of a run: its options, and what was refused.

    Attributes
    ----------
    keep_going : bool
        Count what cannot be used, instead of stopping at it.
    refused : list of EvaluationError
        What was left out, in the order it was met.
    missing : int
        Attempts that a run says it made, of which there is no file.
    files : int
        Files of the run itself; what lies beside them is not counted.
    inputs : Inputs
        Digests of every file that was read.
    """

    options: Options = Options()
    keep_going: bool = False
    refused: list[EvaluationError] = field(default_factory=list)
    missing: int = 0
    files: int = 0
    inputs: Inputs = field(default_factory=Inputs)

    @cached_property
    def classifier(self) -> Classifier:
        """What names failures."""
        if self.options.classifier == "equaxis-v1":
            return EquaxisV1()
        return failure_table(self.options.failures)

    def part(self) -> Part:
        """Read one part of a run (a line, a trial): with `keep_going` a bad one is counted."""
        return Part(self)

    def task(self, name: Any, facts: Mapping[str, Any], where: str) -> str:
        """Return the id of a task that the run calls `name`."""
        given = self.options.task_id
        if given is None:
            return name if isinstance(name, str) else str(name)
        if self.options.named is not None:
            match = self.options.named.search(str(name))
            found = match and (match.group(1) if match.re.groups else match.group())
        else:
            found = at(facts, given.removeprefix("@"))
        if not found:
            raise EvaluationError(
                f"task_id {given!r} finds nothing in {name!r}.", where=where, fix="correct it."
            )
        return str(found)

    def passed(self, score: float | None) -> bool | None:
        """Return the verdict that follows from a score."""
        return None if score is None else score >= self.options.threshold

    def failure(self, facts: Facts) -> dict[str, Any]:
        """Return the fields of a record that name a failure, and the verdict beside it.

        Verdict and failure are independent: what failed around the model keeps the verdict that
        a grader nevertheless wrote, and the policy leaves it out of task quality. A model or
        agent that broke without a verdict has not passed.
        """
        found = self.classifier.classify(facts)
        if found is None:
            return {"success": facts.passed}
        return {
            "success": facts.passed if found.kind == "infrastructure" else bool(facts.passed),
            "failure_code": found.code,
            "failure_class": found.kind,
            "classification_source": found.source,
        }

    def told(self, code: str, passed: bool | None) -> dict[str, Any]:
        """Return the same fields of a failure that the runner itself tells."""
        return {
            "success": passed,
            "failure_code": code,
            "failure_class": self.classifier.kind(code),
            "classification_source": "runner",
        }

    def record(self, where: str, /, **fields: Any) -> EvaluationRecord:
        """Return a record, or raise an error that names the file, the place and the field."""
        if self.options.variant is not None:
            fields["variant"] = self.options.variant
        try:
            return EvaluationRecord.model_validate(fields)
        except ValidationError as error:
            raise EvaluationError(f"{first_problem(error)}.", where=where) from error


class Adapter(Protocol):
    """Reads the files of one runner."""

    name: ClassVar[str]

    def sniff(self, path: Path) -> bool:
        """Return whether a file or folder is one of this runner's; cheap, and never raises."""

    def read(self, path: Path, reading: Reading) -> Iterator[EvaluationRecord]:
        """Yield the records of a run, one by one.

        Raises
        ------
        EvaluationError
            If a file is not what the runner writes, and `reading` does not keep going.
        """


def at(value: Any, path: str) -> Any:
    """Return the value at a dotted path, or None where there is none."""
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value
