from __future__ import annotations

import pytest

from extraction.table import reads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>\nIt could be A.\n</think>\n\nD", "D"),
        ("It could be A or B.\n</think>\nC", "C"),
        ("<think></think>\n\nB", "B"),
        ("<THINKING>A</THINKING> B", "B"),
        ("<think>A</think> so <think>B</think> C", "C"),
        ("[THINK]A?[/THINK]B", "B"),
        ("◁think▷A◁/think▷B", "B"),
        ("<|begin_of_thought|>A<|end_of_thought|>B", "B"),
        ("<|channel|>analysis<|message|>A<|end|><|start|>x<|channel|>final<|message|>B", "B"),
        ("<think>\nIt could be A", "thinking_leak"),
        ("<thinking>A", "thinking_leak"),
        ("<think>A</think><think>B", "thinking_leak"),
        ("<|channel|>analysis<|message|>maybe A", "thinking_leak"),
        ("<think>x</think>", "empty"),
        ("<think>x</think>\n \n", "empty"),
    ],
)
def test_thinking_is_not_the_answer(text: str, expected: str) -> None:
    assert reads(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "B\n\nQuestion: next\nA. x\nB. y\nAnswer: C",
        "Answer: B\n\nQuestion: What is C?\nAnswer: C",
        " B\n\nQ: foo\nA: C",
        "B\n\n**Question 2:** what?\nAnswer: C",
        "B\nQuestion 12 of 40: what?\nAnswer: C",
        "B\n\nFrage: Was?\nAntwort: C",
        "B\n\nUser: and now?\nC",
        "答案：B\n\n问题：还有吗？\n答案：C",
        "B<|im_end|>\n<|im_start|>user\nC",
        "B</s>The answer is C",
        "<s> B",
        "B<end_of_turn>\nC",
        "<|im_start|>assistant\nAnswer: B",
        "Question: What?\nA. Iron\nB. Copper\nAnswer: B",
    ],
)
def test_only_the_part_before_the_next_question_is_the_answer(text: str) -> None:
    assert reads(text) == "B"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "empty"), (" \n\t", "empty"), ("\u200b", "empty"), ("<eos>", "none"), ("...", "none")],
)
def test_blank_texts(text: str, expected: str) -> None:
    assert reads(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm sorry, I can't help with that.", "refusal"),
        ("I’m sorry, but I can’t answer that.", "refusal"),
        ("I'm sorry, but I", "refusal"),
        ("I cannot assist with that request.", "refusal"),
        ("As an AI language model, I cannot answer", "refusal"),
        ("I must decline.", "refusal"),
        ("Es tut mir leid", "refusal"),
        ("Lo siento, no puedo ayudar con eso.", "refusal"),
        ("Je suis désolé, je ne peux pas répondre", "refusal"),
        ("对不起，我无法回答这个问题。", "refusal"),
        ("申し訳ありませんが、お答えできません", "refusal"),
        ("Извините, я не могу помочь", "refusal"),
        ("I'm sorry, the answer is B", "B"),
        ("Sorry, I meant C. The answer is C.", "C"),
        ("I do not know.", "none"),
        ("I can't tell a metal from a gas", "none"),
    ],
)
def test_refusals(text: str, expected: str) -> None:
    assert reads(text) == expected
