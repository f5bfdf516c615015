"""Which part of an output is the answer: after the thinking, before the next question."""

from __future__ import annotations

import re
from dataclasses import dataclass

_THINKING_WORDS = (
    r"think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad|analysis|"
    r"inner_monologue|seed:think"
)
_THINKING = re.compile(
    rf"<\s?(?P<close>/?)\s?(?:{_THINKING_WORDS})\s?>"
    r"|\[(?P<close_square>/?)think\]"
    r"|◁(?P<close_kimi>/?)think▷"
    r"|<\|(?P<edge>begin|end)_of_thought\|>"
    r"|<\|channel\|>(?P<channel>analysis|commentary|final)(?:<\|message\|>)?",
    re.IGNORECASE,
)
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|eot_id|endoftext|end_of_text|eom_id|end|return|end▁of▁sentence|user)\|>"
    r"|</s>|<eos>|<end_of_turn>|<end_of_utterance>|<\|im_start\|>user"
)
_HEADER_WORDS = (
    r"question|next question|new question|q|problem|exercise|example|user|human|instruction|"
    r"frage|aufgabe|pregunta|pergunta|questão|domanda|vraag|вопрос|питання|pytanie|otázka|soru|"
    r"pertanyaan|câu hỏi|السؤال|سؤال|प्रश्न|问题|問題|题目|質問|問|질문|문제"
)
_NEXT_QUESTION = re.compile(
    r"\n[ \t]{0,8}[#*>\[]{0,6}[ \t]{0,2}"
    rf"(?:{_HEADER_WORDS})"
    r"[ \t]{0,2}(?:#|no\.?)?[ \t]{0,2}(?:\d{1,4}[ \t]{0,2}(?:(?:of|/)[ \t]{0,2}\d{1,4})?)?"
    r"[ \t*\]]{0,4}[:)]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Bounds of the answer in a folded text; `leak` is an unfinished thinking tag."""

    start: int
    end: int
    leak: tuple[int, int] | None = None


def answer_scope(text: str) -> Scope:
    """Return where the answer stands in `text` (folded).

    Everything up to the last closing thinking tag is thinking, also where the template itself
    had opened it. A turn ends at its end token, and a base model that runs on into a further
    question answers only before it.
    """
    start, leak = _after_thinking(text)
    if leak is not None:
        return Scope(start, len(text), leak)
    end = _first_after_content(_END_OF_TURN, text, start, len(text))
    return Scope(start, _first_after_content(_NEXT_QUESTION, text, start, end))


def _after_thinking(text: str) -> tuple[int, tuple[int, int] | None]:
    start = 0
    opened: tuple[int, int] | None = None
    for match in _THINKING.finditer(text):
        if _closes(match):
            start, opened = match.end(), None
        elif opened is None:
            opened = match.span()
    return start, opened


def _closes(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    if groups["channel"] is not None:
        return groups["channel"].lower() == "final"
    if groups["edge"] is not None:
        return groups["edge"].lower() == "end"
    return bool(groups["close"] or groups["close_square"] or groups["close_kimi"])


def _first_after_content(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Return where `pattern` first matches behind something visible, else `end`."""
    for match in pattern.finditer(text, start, end):
        if text[start : match.start()].strip():
            return match.start()
    return end
