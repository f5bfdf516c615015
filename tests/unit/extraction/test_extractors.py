from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from assay.core.errors import AssayError
from assay.extraction import EXTRACTORS, extract
from extraction.table import DIGITS, LETTERS, METALS, reads


def test_the_names_and_their_order() -> None:
    assert EXTRACTORS == ("strict", "standard", "lenient", "first_match")


@pytest.mark.parametrize(
    ("text", "strict", "standard", "lenient", "first_match"),
    [
        ("B", "B", "B", "B", "B"),
        ("Answer: B", "B", "B", "B", "A"),
        ("Antwort: C", "C", "C", "C", "A"),
        ("\\boxed{C}", "C", "C", "C", "C"),
        ("C\n\nBecause it is heavy.", "C", "C", "C", "C"),
        ("C. Gold", "none", "C", "C", "C"),
        ("C is correct", "none", "C", "C", "C"),
        ("So B.", "none", "B", "B", "B"),
        ("Gold", "none", "C", "C", "none"),
        ("As shown, the option is C", "C", "C", "C", "A"),
        ("Both A and C", "ambiguous", "ambiguous", "ambiguous", "B"),
        ("the table shows B and nothing else", "none", "none", "B", "B"),
        ("I weighed gold and saw", "none", "none", "C", "none"),
        ("I weighed gold and tin", "none", "none", "ambiguous", "none"),
        ("B and D again", "ambiguous", "ambiguous", "ambiguous", "B"),
        ("see B, then see D", "none", "none", "ambiguous", "B"),
        ("not B", "none", "none", "none", "B"),
        ("", "empty", "empty", "empty", "empty"),
        ("<think>B", "thinking_leak", "thinking_leak", "thinking_leak", "B"),
        ("E", "out_of_range", "out_of_range", "out_of_range", "none"),
    ],
)
def test_the_four_extractors_side_by_side(
    text: str, strict: str, standard: str, lenient: str, first_match: str
) -> None:
    found = [reads(text, extractor=name) for name in EXTRACTORS]
    assert found == [strict, standard, lenient, first_match]


@pytest.mark.parametrize("kind", ["upper", "digit"])
@pytest.mark.parametrize("size", [2, 4, 10, 26])
@pytest.mark.parametrize("texts", [None, "plain", "labels"])
def test_a_label_alone_is_read_by_every_extractor(kind: str, size: int, texts: str | None) -> None:
    # The audit of a leaderboard relies on this.
    labels = [chr(65 + n) if kind == "upper" else str(n + 1) for n in range(size)]
    shown = {None: None, "plain": [f"option {n}" for n in range(size)], "labels": labels[::-1]}
    for label in labels:
        for extractor in EXTRACTORS:
            assert extract(label, labels, shown[texts], extractor).label == label


@pytest.mark.parametrize(
    ("text", "expected"), [("1.5 kg, so 3", "1"), ("Option 12", "1"), ("none", "none")]
)
def test_first_match_on_digits_is_the_old_rule(text: str, expected: str) -> None:
    assert reads(text, DIGITS, None, "first_match") == expected


def test_lenient_takes_an_option_text_that_was_cut() -> None:
    options = ["The warm air rises up", "The warm air sinks down", "It rains"]
    assert reads("The warm air sinks", "ABC", options, "lenient") == "B"
    assert reads("The warm air", "ABC", options, "lenient") == "ambiguous"
    assert reads("The warm air sinks", "ABC", options) == "none"


def test_extraction_is_frozen_and_equal_by_value() -> None:
    found = extract("B", LETTERS)
    assert found == extract("B", tuple(LETTERS), METALS)
    with pytest.raises(FrozenInstanceError):
        found.label = "A"  # type: ignore[misc]


@pytest.mark.parametrize(
    "labels",
    [
        [],
        ["A"],
        ["A", "a"],
        ["A", "1"],
        ["A", "BB"],
        ["0", "1"],
        ["1", "27"],
        ["01", "2"],
        ["А", "Б"],
        ["A", ""],
        [str(number) for number in range(1, 28)],
    ],
)
def test_unusable_labels_are_refused(labels: list[str]) -> None:
    with pytest.raises(AssayError, match="labels"):
        extract("A", labels)


def test_other_wrong_arguments_are_refused() -> None:
    with pytest.raises(AssayError, match="3 option texts for 4 labels"):
        extract("A", LETTERS, METALS[:3])
    with pytest.raises(AssayError, match="unknown extractor 'best'.*strict, standard"):
        extract("A", LETTERS, METALS, "best")
