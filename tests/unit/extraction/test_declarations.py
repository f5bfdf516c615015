from __future__ import annotations

import pytest

from extraction.table import reads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Answer: this asks for a metal\nANSWER: b", "B"),
        ("The answer is B because a car moves.", "B"),
        ("The answer is B. Note that A is a distractor.", "B"),
        ("C because I computed", "C"),
        ("Answer seems to be A", "A"),
        ("I considered (A), then (B). Final answer: D", "D"),
        ("answer is (A)", "A"),
        ("As shown, the option is C", "C"),
        ("A good choice is D", "D"),
        ("The answer to the question of which element is heaviest is C", "C"),
        ('The most likely answer to "Which one?" is "D. Tin".', "D"),
        ("Only C is correct", "C"),
        ("(C) is correct", "C"),
        ("Option B is correct", "B"),
        ("option (c)", "C"),
        ("THE ANSWER IS B", "B"),
        ("the answer is b", "B"),
        ("My final answer is D", "D"),
        ("I'd go with B", "B"),
        ("I pick C.", "C"),
        ("So B.", "B"),
        ("Which is wrong? B", "B"),
        ("Let me think. Iron is heavy.\n\nB", "B"),
        ("It should be D.", "D"),
        ("I was going to say A, but the answer is B", "B"),
        ("Although A is tempting, the answer is D.", "D"),
        ("Initially I thought the answer is C. However, the answer is D.", "D"),
        ("First answer: A. Final answer: B", "B"),
        ("The answer is C\nThe answer is C", "C"),
        ("B. Copper\n\nThe correct answer is D.", "D"),
        ("The answer is C. The answer is D.", "ambiguous"),
        ("Answer: A\nAnswer: B\nAnswer: C", "ambiguous"),
        ("Answer: A\n\nWait, that is wrong.\n\nAnswer: B", "B"),
        ("The answer is X", "out_of_range"),
        ("Answer: e", "out_of_range"),
        ("z", "out_of_range"),
        ("Option B is a metal", "none"),
        ("The answer depends on A", "none"),
        ("The answer to A is unknown", "none"),
    ],
)
def test_the_last_declared_answer_wins(text: str, expected: str) -> None:
    assert reads(text) == expected


@pytest.mark.parametrize(
    "text",
    """a metal|A metal|A car moves|A regular octagon has|The answer is a metal|I do not know
I am not sure.|U.S.|e.g. iron|Vitamin C is needed|B cells are produced|D-day|The A+ grade
25°C|It's a trap|CCC|Cc|A = {1, 2, 3}|A is neither symmetric nor|x_A|It is A.B. Smith
Antwort:|Answer:|The correct answer is:|Answer:\\n\\nExplanation: B is a gas
None of the above|::::::::|Answer with the letter only:""".replace("\n", "|").split("|"),
)
def test_letters_of_ordinary_text_are_not_labels(text: str) -> None:
    assert reads(text) == "none"


@pytest.mark.parametrize("text", ["A", "A because", "A is the answer", "I choose A", "(a)", "a."])
def test_the_letter_a_can_still_be_the_answer(text: str) -> None:
    assert reads(text) == "A"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C because I computed it", "C"),
        ("I", "I"),
        ("Answer: I", "I"),
        ("I think B", "B"),
        ("Answer: I think B", "B"),
        ("I. Introduction", "I"),
        ("J", "out_of_range"),
    ],
)
def test_the_pronoun_i_among_nine_labels(text: str, expected: str) -> None:
    assert reads(text, "ABCDEFGHI", None) == expected


def test_lower_case_labels_are_returned_as_offered() -> None:
    assert reads("The answer is B", "abcd") == "b"
    assert reads("(C) Gold", "abcd") == "c"
