"""Write expectations as (text, expected) where expected is a label or the name of a status."""

from __future__ import annotations

from collections.abc import Sequence

from assay.extraction import Status, extract

METALS = ["Iron", "Copper", "Gold", "Tin"]
LETTERS = ["A", "B", "C", "D"]
DIGITS = ["1", "2", "3", "4"]


def reads(
    text: str,
    labels: Sequence[str] = LETTERS,
    options: Sequence[str] | None = METALS,
    extractor: str = "standard",
) -> str:
    """Return the label, or the status where there is none."""
    found = extract(text, labels, options, extractor)
    return found.label if found.label is not None else Status(found.status).value
