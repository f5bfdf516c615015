from __future__ import annotations

import pytest

from assay.extraction import extract
from extraction.table import LETTERS, METALS, reads


@pytest.mark.parametrize(
    "text",
    r"""
C|(C)|C)|(C|[C]|[[C]]|{C}|C.|C!|C:|C,|"C"|'C'|“C”|«C»|「C」|【C】|（C）|C。|*C*|**C**|***C***
__C__|_C_|`C`|> C|- C|• C|* **C** Gold|# C|## Answer: C|1. C|C C|<b>C</b>|<p>C</p>|$C$|\(C\)
$\mathbf{C}$|**Answer: C**|**Answer:** C|Answer: **C**|`Answer: C`|***Answer***: C
Answer: (C)|Answer: [C]|Answer (C)|Answer: $C$|Answer: $\text{C}$|ANSWER: $C$
The answer is "C".|The answer is 'C'.|The answer is: **C. Gold**|\boxed{C}|\boxed{\text{C}}
$\boxed{C}$|$\boxed{\textbf{(C)}}$|\(\boxed{C}\)|The final answer is $\boxed{C}$.
\boxed{Gold}|\fbox{C}|boxed{C}|Therefore, \boxed{ C }|**C. Gold**|**C** - Gold|C - Gold
C – Gold|C — because it is heavy|C: Gold|C) Gold|(C) Gold|[C] Gold|C, gold|C Gold|C (Gold)
Answer: C (Gold)|Answer - C|Answer – C|Answer = C|Answer C|Answer. C|=> C|→ C
Answer: ~~A~~ C|{"answer": "C"}|{"answer":"c"}|{"answer": {"label": "C"}}|["C"]
{"correct_option": "C"}|{"choice": "C"}|{"reasoning": "A is wrong", "answer": "C"}
{"answer": "C", "explanation": "A is iron"}|<answer>C</answer>
<final_answer>C</final_answer>|Answer:\nC|¦ Answer ¦ C ¦
""".strip().replace("\n", "|").split("|"),
)  # fmt: skip
def test_markup_does_not_hide_a_label(text: str) -> None:
    assert reads(text.replace("¦", "|")) == "C"


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"answer": "C"}\n```',
        "<answer>\nC\n</answer>",
        "<reasoning>It might be A</reasoning>\n<answer>C</answer>",
        "### Answer\n\nC",
        "The correct answer is:\n\n**C. Gold**",
        "C\nC\nC",
        "\x08oxed{C}",
        "\tC\r\n",
        "Answer:\u00a0C",
        "&C",
    ],
)
def test_line_breaks_and_control_characters_do_not_hide_a_label(text: str) -> None:
    assert reads(text) == "C"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("Ｂ", (0, 1)),
        ("ANSWER: $B$", (9, 10)),
        ("\u200bB\u200b", (1, 2)),
        ("\ufeff\ufeffThe answer is\u00a0\u200b(Ｂ).", (18, 19)),
        ("⒝", (0, 1)),
        ("<think>\nA\n</think>\n\nB", (20, 21)),
        ("ﬁne: answer：B", (12, 13)),
        ("𝐁", (0, 1)),
        ("It is “Copper”", (7, 13)),
    ],
)
def test_spans_are_offsets_in_the_original_text(text: str, span: tuple[int, int]) -> None:
    found = extract(text, LETTERS, METALS)
    assert (found.label, found.span) == ("B", span)


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("The answer is A or B, maybe", "A or B"),
        ("Well. I'm sorry, but I cannot help with that", "I cannot help"),
        ("<think>\nhm", "<think>"),
        ("The answer is E", "E"),
        ("Not B.", "B"),
        ("The answer is Gold (B)", "Gold"),
        ("B. Gold", "B"),
    ],
)
def test_spans_of_failures_show_the_reason(text: str, covered: str) -> None:
    found = extract(text, LETTERS, METALS)
    assert found.label is None
    assert found.span is not None
    assert text[slice(*found.span)] == covered
