"""The record: one item with all its observations for one model."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, model_validator

Status = Literal[
    "ok",
    "none",
    "ambiguous",
    "refusal",
    "empty",
    "thinking_leak",
    "out_of_range",
    "too_long",
    "oom",
    "nonfinite",
    "empty_option",
    "boundary",
    "backend_error",
    "not_applicable",
]

#: Every status an observation may have, in the order of the specification.
STATUSES: tuple[Status, ...] = get_args(Status)
#: The model was asked and no answer came back: to be retried, never counted as wrong.
MISSING: frozenset[Status] = frozenset({"oom", "backend_error"})
#: The configuration makes no sense for the item: outside every denominator.
NOT_APPLICABLE: Status = "not_applicable"


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Scores(_Frozen):
    """Log-probabilities of the options, in source order, in several normalisations.

    Attributes
    ----------
    sum : tuple of float or None
        Σ ln p(token) of the continuation; None where the option could not be scored.
    token : tuple of float or None
        `sum` over the number of continuation tokens.
    byte : tuple of float or None
        `sum` over the number of UTF-8 bytes of the text that was scored.
    pmi : tuple of float or None
        `sum` minus the sum after a stem without the question; empty where that was not asked.
    """

    sum: tuple[float | None, ...]
    token: tuple[float | None, ...]
    byte: tuple[float | None, ...]
    pmi: tuple[float | None, ...] = ()


class Observation(_Frozen):
    """The outcome of one item under one configuration for one model.

    `correct` is None exactly where the observation is missing or not applicable; `choice` is an
    index into the item's options in source order, whatever order was shown.
    """

    key: str
    status: Status
    correct: bool | None
    choice: int | None = None
    order: tuple[int, ...] | None = None
    prompt_sha256: str | None = None
    prompt_tokens: int | None = None
    # Generation
    label: str | None = None
    rule: str | None = None
    span: tuple[int, int] | None = None
    text: str | None = None
    finish: Literal["eos", "length"] | None = None
    new_tokens: int | None = None
    # Likelihood
    scores: Scores | None = None
    margin: float | None = None
    tied: tuple[int, ...] | None = None
    credit: float | None = None
    flags: tuple[str, ...] = ()
    detail: str = ""

    @model_validator(mode="after")
    def _bit_follows_status(self) -> Observation:
        if self.correct and self.status != "ok":
            raise ValueError(f"status {self.status} cannot be correct")
        unanswered = self.status in MISSING or self.status == NOT_APPLICABLE
        if unanswered != (self.correct is None):
            raise ValueError(f"status {self.status} does not go with correct={self.correct}")
        return self


class Record(_Frozen):
    """One JSON line of a shard."""

    benchmark: str
    model: str
    item_id: str
    native_id: str
    question: str
    options: tuple[str, ...]
    gold: int
    accepts: tuple[int, ...]
    subject: str
    cluster: str
    locked: bool
    flags: tuple[str, ...]
    observations: dict[str, Observation]
