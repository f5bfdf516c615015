"""One attempt at one task, as any runner's log tells it.

Runners produce facts, adapters only normalise them: a field that the log does not state is None,
never 0, so that a mean is a mean of what was measured.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

FailureClass = Literal["infrastructure", "capability"]
ClassificationSource = Literal["exception", "phase", "message", "verdict", "trace", "runner"]

Text = Annotated[str, Field(min_length=1)]
#: Of any sign: a log-likelihood or a penalty is below 0.
Score = Annotated[float, Field(allow_inf_nan=False)]
Measure = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class Frozen(BaseModel):
    """Base of what is written and read: camelCase outside, unknown keys refused, no NaN."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
    )


class Trace(Frozen):
    """What an agent's trace counts; None where the trace does not tell.

    Attributes
    ----------
    turns, tool_calls, tool_errors, blocked_calls : int or None
        Model turns, tool calls, tool results that were errors, and calls that a policy blocked.
    repair_exhausted : bool or None
        Whether the runtime gave up repairing a tool call's arguments.

    Notes
    -----
    What other cores count besides is passed over: it is evidence that nothing here reads.
    """

    model_config = ConfigDict(extra="ignore")

    turns: Count | None = None
    tool_calls: Count | None = None
    tool_errors: Count | None = None
    blocked_calls: Count | None = None
    repair_exhausted: bool | None = None


class EvaluationRecord(Frozen):
    """One attempt at one task.

    Attributes
    ----------
    attempt : int
        1 for the first attempt at a task, in time order.
    success : bool or None
        The verdict; None where the runner gave none. Independent of `failure_code`: an attempt
        that ran out of time may have passed.
    score : float or None
        The runner's own score, in its own units, which may be negative.
    expected_success_rate : float or None
        The rate that the taxonomy expects of the task; None where it says nothing.
    failure_class, classification_source : str or None
        What kind of failure `failure_code` is, and which fact decided it.
    input_tokens : int or None
        Tokens read, those from a cache included; `cached_tokens` counts the latter.
    latency_ms : float or None
        Milliseconds that the agent or model took.
    result_path : str or None
        The file the facts come from, relative to the job.
    task_version : str or None
        A checksum of the task; attempts at different versions are not compared.
    """

    task_id: Text
    trial_id: str | None = None
    attempt: Annotated[int, Field(ge=1)] = 1
    variant: Text = "baseline"
    task_area: Text = "unclassified"
    capability_tags: tuple[Text, ...] = ("unlabeled",)
    expected_success_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    success: bool | None = None
    score: Score | None = None
    failure_code: Text | None = None
    failure_class: FailureClass | None = None
    classification_source: ClassificationSource | None = None
    safety_evaluated: bool = False
    safety_violation: bool | None = None
    latency_ms: Measure | None = None
    cost_usd: Measure | None = None
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    trace: Trace | None = None
    result_path: str | None = None
    task_version: str | None = None
    runner_version: str | None = None

    @property
    def infrastructure(self) -> bool:
        """Whether the attempt says nothing about the model: its surroundings failed."""
        return self.failure_class == "infrastructure"
