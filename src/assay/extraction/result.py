"""What an extractor returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How the reading of one output ended; only `OK` can be correct."""

    OK = "ok"
    NONE = "none"
    AMBIGUOUS = "ambiguous"
    REFUSAL = "refusal"
    EMPTY = "empty"
    THINKING_LEAK = "thinking_leak"
    OUT_OF_RANGE = "out_of_range"


@dataclass(frozen=True, slots=True)
class Extraction:
    """The answer read from one output.

    Parameters
    ----------
    status : Status
        `ok`, or why there is no single offered label.
    label : str or None
        One of the labels that were offered, spelt as offered; None unless the status is `ok`.
    rule : str
        Short stable name of the rule that decided (docs/explanation/extraction.md lists them).
    span : tuple of int or None
        Half-open character offsets in the original text: the label, the option text, or the
        words that made the reading fail; None where nothing stands for it.
    """

    status: Status
    label: str | None
    rule: str
    span: tuple[int, int] | None
