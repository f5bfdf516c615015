from __future__ import annotations

import pytest

from assay.extraction import extract
from extraction.table import LETTERS, reads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gold", "C"),
        ("gold.", "C"),
        ("**Gold**", "C"),
        ("GOLD!", "C"),
        ("Gold\n\nIt is heavy.", "C"),
        ("Gold\nGold", "C"),
        ("The answer is gold", "C"),
        ("The answer is: Gold", "C"),
        ("It's gold", "C"),
        ("gold is the answer", "C"),
        ("Gold is correct", "C"),
        ("The answer is Gold (C)", "C"),
        ("The answer is Gold, not Tin", "C"),
        ("Golden", "none"),
        ("goldfish", "none"),
        ("The metal is golden", "none"),
        ("Gold or tin", "ambiguous"),
        ("Iron, Copper, Gold", "ambiguous"),
        ("Iron\nCopper\nGold\nTin", "ambiguous"),
        ("The answer is Gold (B)", "ambiguous"),
    ],
)
def test_exact_option_texts(text: str, expected: str) -> None:
    assert reads(text) == expected


@pytest.mark.parametrize(
    "text",
    ["B. Gold", "B gold", "B: Gold", "B (Gold)", "(B) Gold", "**B. Gold**", "It is B: Gold."]
    + ["Answer: B. Gold", "The answer is B: Gold.", "B. gold", "B - Gold"],
)
def test_a_label_with_another_options_text_is_ambiguous(text: str) -> None:
    assert reads(text) == "ambiguous"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A. Iron\n\nBecause iron is common.", "A"),
        ("B. Silver", "B"),
        ("E. Silver", "out_of_range"),
        ("C. Gold\n\nExplanation: A is iron, B is copper.", "C"),
        ("The answer is B. Gold is a distractor.", "B"),
        ("A) Iron\nB) Copper", "ambiguous"),
        ("A. Iron B. Copper C. Gold D. Tin", "ambiguous"),
        ("(A) Iron (B) Copper", "ambiguous"),
        ("A\nB\nC\nD", "ambiguous"),
        ("A. Iron\nB", "ambiguous"),
        ("Choose the correct answer:\nA. Iron\nB. Copper\nC. Gold\nD. Tin", "ambiguous"),
        ("Choose the correct answer:\nA. Iron\nB. Copper\n\nAnswer: B", "B"),
        ("A. Iron is wrong.\nB. Copper is wrong.\nC. Gold is correct.", "C"),
        ("The correct answer is C.\n\nA. Iron is wrong.\nB. Copper is wrong.", "C"),
        ("A. Iron\nA. Iron\nA", "A"),
    ],
)
def test_lists_and_labels_with_text(text: str, expected: str) -> None:
    assert reads(text) == expected


LONG = [
    "Water can change phase.",
    "Water can be absorbed by plants.",
    "anti-symmetric only",
    "n >= 5",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A. Water can be absorbed by", "ambiguous"),
        ("B. Water can be absorbed by", "B"),
        ("B. Water can", "B"),
        ("C. antisymmetric only", "C"),
        ("A. antisymmetric only", "ambiguous"),
        ("A. n >= 5", "ambiguous"),
        ("A. n <= 5", "A"),
        ("Water can be absorbed by plants", "B"),
        ("Water can be absorbed by", "none"),
    ],
)
def test_texts_cut_by_the_token_limit(text: str, expected: str) -> None:
    assert reads(text, options=LONG) == expected


NAMING = ["A only", "B only", "Both A and B", "Neither"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C", "C"),
        ("Both A and B", "C"),
        ("C. Both A and B", "C"),
        ("The answer is both A and B", "C"),
        ("The answer is Both A and B.", "C"),
        ("A only", "A"),
        ("A. A only", "A"),
        ("A. B only", "ambiguous"),
    ],
)
def test_options_that_name_labels(text: str, expected: str) -> None:
    assert reads(text, options=NAMING) == expected


def test_equal_option_texts_cannot_be_told_apart() -> None:
    twice = ["Gold", "Tin", "Gold", "Iron"]
    assert extract("Gold", LETTERS, twice).rule == "equal_texts"
    assert reads("Gold", options=twice) == "ambiguous"
    assert reads("C. Gold", options=twice) == "C"
    assert reads("A. Gold", options=twice) == "A"
    assert reads("B. Gold", options=twice) == "ambiguous"


def test_letters_as_option_texts_lose_to_labels() -> None:
    swapped = ["B", "A", "D", "C"]
    assert reads("A", options=swapped) == "A"
    assert reads("The answer is D", options=swapped) == "D"


def test_longer_option_text_wins_over_its_beginning() -> None:
    truth = ["True", "True, False", "False", "False, True"]
    assert reads("True, False", options=truth) == "B"
    assert reads("B. True, False", options=truth) == "B"
    assert reads("A. True, False", options=truth) == "ambiguous"
    assert reads("A. True", options=truth) == "A"


def test_without_options_texts_are_not_looked_at() -> None:
    assert reads("Gold", options=None) == "none"
    assert reads("B. Gold", options=None) == "B"


def test_empty_option_texts_match_nothing() -> None:
    assert reads("", options=["", "", "x", "y"]) == "empty"
    assert reads("...", options=["", "...", "x", "y"]) == "none"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The options are: A. Iron\nB. Copper\nC. Gold", "ambiguous"),
        ("Answer: A. Iron\nB. Copper", "ambiguous"),
        ("Answer: A\nB\nC\nD", "ambiguous"),
        ("Choose the answer:\nA. Iron\nC. Gold", "ambiguous"),
        ("A: wrong.\nC", "C"),
        ("Answer: C\nA. Iron is wrong", "C"),
        ("Answer: C\n\nB is copper.", "C"),
        ("Answer: A\n\nOnly iron rusts.\n\nB. Copper does not.", "A"),
    ],
)
def test_a_declaration_that_leads_a_list_is_none(text: str, expected: str) -> None:
    assert reads(text) == expected


@pytest.mark.parametrize(
    "text",
    ["the points (x = 1, y = 2) lie there", "as in (2) above", "f(2) grows", "H2O (1) boils"],
)
def test_numbers_in_brackets_within_a_sentence_are_no_labels(text: str) -> None:
    assert reads(text, ["1", "2", "3", "4"]) == "none"
