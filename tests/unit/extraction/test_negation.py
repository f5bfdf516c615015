from __future__ import annotations

import pytest

from extraction.table import reads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The answer is not A but C", "C"),
        ("The correct answer is not B, it is C.", "C"),
        ("The correct answer isn't B; it's C.", "C"),
        ("It's not A, it's C.", "C"),
        ("The answer isn't A. It is C.", "C"),
        ("It cannot be A, so it must be C", "C"),
        ("A can't be right, so the answer is B", "B"),
        ("Don't choose A. Choose B.", "B"),
        ("I would eliminate A and B, leaving C", "C"),
        ("Neither A nor B, so C", "C"),
        ("Unlike A, B is correct", "B"),
        ("The answer is C, not A", "C"),
        ("B rather than A", "B"),
        ("I would choose C instead of D", "C"),
        ("D is wrong, C is right", "C"),
        ("A and B are wrong, so C", "C"),
        ("C, A and B are wrong", "C"),
        ("C is the correct answer because A and B are wrong", "C"),
        ("C\n\nExplanation: A and B are not right. D is not right.", "C"),
        ("A is incorrect. The correct answer is B", "B"),
        ("B is not the answer. The answer is C.", "C"),
        ("No, B.", "none"),
        ("No, the answer is B.", "B"),
        ("The option that is not a metal is B", "B"),
        ("The answer is not gold but tin", "D"),
        ("not gold", "none"),
        ("Not B.", "none"),
        ("not C", "none"),
        ("Definitely not D", "none"),
        ("I don't think it's B", "none"),
        ("The answer is NOT B", "none"),
        ("The answer is neither A nor B", "none"),
        ("None of A, B or C", "none"),
    ],
)
def test_rejected_labels_are_no_answers(text: str, expected: str) -> None:
    assert reads(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A or B", "ambiguous"),
        ("A, B", "ambiguous"),
        ("A/B", "ambiguous"),
        ("A & B", "ambiguous"),
        ("A B", "ambiguous"),
        ("A; B", "ambiguous"),
        ("A and/or B", "ambiguous"),
        ("A, B, C, and D", "ambiguous"),
        ("Answer: A, B", "ambiguous"),
        ("The answer is A or B", "ambiguous"),
        ("Options A and B", "ambiguous"),
        ("A and B are both correct", "ambiguous"),
        ("All of A, B and C", "ambiguous"),
        ("Either C or D, hard to say", "ambiguous"),
        ("The answer could be B or C, but I choose C", "C"),
        ("Between A and B, I choose B", "B"),
        ("B / B", "B"),
        ("Answer: B or B", "B"),
    ],
)
def test_several_labels_are_ambiguous_until_one_is_declared(text: str, expected: str) -> None:
    assert reads(text) == expected
