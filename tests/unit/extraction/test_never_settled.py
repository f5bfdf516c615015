"""No answer is settled before its end: one more token can change what the strict extractor reads.

That is why the collector has no early stop (docs/explanation/collector.md).
"""

from __future__ import annotations

import pytest

from assay.extraction import extract

OPTIONS = ("Paris", "Rome", "Berlin", "Madrid")
#: Each a single token of a usual vocabulary.
ONE_TOKEN = ("C", "\nC", "\n", " or", " Berlin")


@pytest.mark.parametrize("text", ["B", "B.", "B\n", "**B**", "(B)", "Answer: B\n", "B. Rome\n\n"])
def test_one_more_token_changes_the_answer(text: str) -> None:
    def read(said: str) -> tuple[str, str | None]:
        found = extract(said, "ABCD", OPTIONS, "strict")
        return found.status.value, found.label

    assert any(read(text + token) != read(text) for token in ONE_TOKEN)
