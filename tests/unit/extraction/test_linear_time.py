from __future__ import annotations

import sys
import time
from types import FrameType
from typing import Any

import pytest

from assay.extraction import extract

OPTIONS = ["A or B or " * 20 + tail for tail in ("iron", "copper", "gold", "tin")]
# What a regular expression or a nested scan could stumble over.
HARD = [
    *(
        "A or ",
        "(((((",
        "**",
        "\\boxed{",
        "<think>",
        "\u0316\u0301",
        "\nQuestion:",
        "1,111",
        "\\",
        "<a",
    ),
    *("a-", "I can't ", "A\n", "x", " "),
]
UNITS = [
    *HARD,
    *(
        "</think>",
        "A. Iron\n",
        "Answer: ",
        "not ",
        "Answer:\nA\n",
        "answer A ",
        "A, ",
        "1. ",
        "1.1",
    ),
    *(
        "a\u0301",
        "\u0301",
        "\u200b",
        "B\u200b",
        "<|im_end|>",
        "the answer is ",
        "is ",
        "答案是",
        "A和",
    ),
    *("\n", "\\n", "_", "'", "-", "a'", "$", "</", "<answer>", '{"answer": ', "I'm sorry ", "=> "),
    *(
        "B is not ",
        "A is correct. ",
        "The answer is A. ",
        "Answer: A\n\nB. ",
        "A B C D ",
        "...",
        "A.\n",
        "<|x",
        "Q: ",
    ),
    *("\ud800", "🇧", "[THINK]", "A) A or B or "),
]
SMALL, LARGE = 2_000, 8_000


def count_calls(text: str, extractor: str) -> int:
    """Return the number of Python and C function calls of one extraction."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        extract(text, "ABCD", OPTIONS, extractor)
    finally:
        sys.setprofile(None)
    return calls


def repeat(unit: str, size: int) -> str:
    return unit * (size // len(unit))


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_the_work_grows_as_the_text(unit: str) -> None:
    small = count_calls(repeat(unit, SMALL), "lenient")
    large = count_calls(repeat(unit, LARGE), "lenient")
    assert large <= 4.4 * small + 2_000


@pytest.mark.parametrize("unit", HARD, ids=repr)
def test_a_hundred_kilobytes_take_seconds_at_most(unit: str) -> None:
    # Guards what the count of calls cannot see, the work inside one regular expression: a
    # quadratic one would take minutes. Processor time, so that a busy machine does not matter.
    text = repeat(unit, 100_000)
    begin = time.process_time()
    extract(text, "ABCD", OPTIONS, "lenient")
    assert time.process_time() - begin < 20
