from __future__ import annotations

import pytest

from extraction.table import DIGITS, reads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2. Copper", "2"),
        ("Option 2", "2"),
        ("Number 3", "3"),
        ("number (2)", "2"),
        ("#2", "2"),
        ("Answer: 1 (Iron)", "1"),
        ("1 - Iron", "1"),
        ("3 because 2 is lighter", "3"),
        ("It weighs 1.5 kg, so 3", "3"),
        ("In 1995, so 3", "3"),
        ("2\n\nExplanation: 1.5 kg", "2"),
        ("The answer is 2 because 3 is wrong", "2"),
        ("Answer = 3", "3"),
        ("1️⃣", "1"),
        ("③", "3"),
        ("３", "3"),
        ("1 1", "1"),
        ("1. 1. Iron", "1"),
        ("Gold", "3"),
        ("Step 1: x\nStep 2: y\n\nAnswer: 3", "3"),
        ("1. First, weigh it\n2. Then, decide\n\nThe answer is 4", "4"),
        ("1. First, weigh it\n2. Then, decide\n\n4", "4"),
        ("1. First, weigh it\n2. Then, decide", "none"),
        ("1. Iron\n2. Copper", "ambiguous"),
        ("1\n2\n3\n4", "ambiguous"),
        ("1. 2. 3.", "ambiguous"),
        ("1, 2", "ambiguous"),
        ("1,2", "ambiguous"),
        ("1 or 2", "ambiguous"),
        ("2/3", "ambiguous"),
        ("0", "out_of_range"),
        ("5", "out_of_range"),
        ("12", "out_of_range"),
        ("Option 12", "out_of_range"),
        ("The answer is 42", "out_of_range"),
        ("B", "out_of_range"),
    ],
)
def test_digit_labels(text: str, expected: str) -> None:
    assert reads(text, DIGITS) == expected


@pytest.mark.parametrize(
    "text",
    """3 apples|The answer is 3 apples|2 kg|2.5|.5|2,500|1,5 kg|$3|€3|-3|3%|3:00|2nd
Step 1|Figure 2|Question 3|2 + 2 = 4|x = 3|It has 4 legs|10^3|2²|½|٣|1.2.3|3 °C|H2O""".replace(
        "\n", "|"
    ).split("|"),
)
def test_counts_amounts_and_formulas_are_no_labels(text: str) -> None:
    assert reads(text, DIGITS) == "none"


@pytest.mark.parametrize("extractor", ["strict", "standard", "lenient"])
def test_two_digit_labels_are_read_whole(extractor: str) -> None:
    labels = [str(number) for number in range(1, 27)]
    for label in labels:
        assert reads(f"The answer is {label}.", labels, None, extractor) == label
        assert reads(label, labels, None, extractor) == label
    assert reads("1\u200b2", labels, None, extractor) != "12"
    assert reads("27", labels, None, extractor) == "out_of_range"


def test_a_number_can_be_the_text_of_a_lettered_option() -> None:
    numbers = ["2", "4", "8", "71%"]
    assert reads("4", options=numbers) == "B"
    assert reads("The answer is 71%.", options=numbers) == "D"
    assert reads(" 8: 8:", options=numbers) == "C"
    assert reads("The answer is 5", options=numbers) == "out_of_range"
    assert reads("B. 8", options=numbers) == "ambiguous"
    assert reads("2", ["1", "2", "3", "4"], ["1", "3", "2", "4"]) == "2"
