"""Whole answers in the manner of chat models: reasons, hedges, lists and second thoughts."""

from __future__ import annotations

import pytest

from extraction.table import DIGITS, reads


@pytest.mark.parametrize(
    "text",
    [
        "The correct answer is **(C) Gold**.\n\nHere's why:\n* (A) Iron rusts\n* (B) Copper too",
        "Let's see.\n\n(A) Iron: This is incorrect.\n(B) Copper: no.\n\nTherefore it is (C) Gold.",
        "**C**\n\n**Explanation:** A is iron",
        "C. Gold is the correct answer because it is heavy",
        "C\n\nExplanation:\nA. Iron: not\nB. Copper: no\nD. Tin: no",
        "C. Gold\n\nWhy the others are wrong:\nA. Iron\nD. Tin",
        "C\n\n2. What is next?\nA. foo\nB. bar",
        "Option A describes iron. Option B describes copper. So the answer is C.",
        "Incorrect: A, B, D. Correct: C",
        "All options except C are light, so C.",
        "It is either A or C. I'd say C.",
        "Between options A, B, C and D, the best is C",
        "Out of A, B, C, D I choose C",
        "Answer (A, B, C, or D): C",
        "Answer (A/B/C/D): C",
        "Answer with A, B, C, or D.\nC",
        "Answer: B and C are similar, but C is right",
        "Answer: A is incorrect, C is correct",
        "I think that the answer might be C, but I'm not sure. It could also be D.",
        "Looking at the options, C seems right.",
        "Only option (C) is heavy, so I'd choose (C).",
        "Final Answer\nC",
        "The answer is the third option, C.",
    ],
)
def test_reasons_around_the_answer_do_not_change_it(text: str) -> None:
    assert reads(text) == "C"


@pytest.mark.parametrize(
    "text",
    """I believe C.|I think C|I'd say C|My guess is C|guess: C|I guess it's C|I'm going with C.
C I think|C probably|C maybe|C, I believe.|C?|C ✅|✅ C|👉 C|Sure! The answer is C.
Sure, here's the answer: C|the answer's C|It's option C|My choice is C: Gold
Correct answer → C|Therefore the answer is choice C.|Answer: It is C
Answer: The correct answer is C.|Answer: Option C|C (not B)|C, not B|C;|C.Gold|C)Gold
The correct letter is C.|Letter: C|Selected answer: C|answer=C|ans - c|Correct: C
(Answer: C)""".replace("\n", "|").split("|"),
)
def test_short_answers(text: str) -> None:
    assert reads(text) == "C"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I think A is iron", "none"),
        ("C is better than B", "none"),
        ("C is definitely not correct", "none"),
        ("Answer: N/A", "none"),
        ("Is it C or D?", "ambiguous"),
        ("The options are A, B, C, and D.", "ambiguous"),
        ("Choose one: A, B, C, or D", "ambiguous"),
        ("The answer is A, B, and C", "ambiguous"),
        ("A. Iron\nIt is a metal.\nB. Copper\nIt conducts.", "ambiguous"),
        ("D\n\nHm, no.\n\nB", "ambiguous"),
        ("B\nA\nC", "ambiguous"),
    ],
)
def test_texts_that_settle_on_nothing(text: str, expected: str) -> None:
    assert reads(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("A: 3", "3"), ("Q: x\nA: 3", "3"), ("A: 3 apples", "none")]
)
def test_an_a_before_a_digit_label_stands_for_answer(text: str, expected: str) -> None:
    assert reads(text, DIGITS) == expected
