"""Recognise an output that declines to answer."""

from __future__ import annotations

import re

_CANNOT = r"(?:can't|cannot|can not|could not|couldn't|won't|will not|must not|may not)"
_UNABLE = r"(?:unable to|not able to|not allowed to|not permitted to|not comfortable)"
_ACT = (
    r"(?:help|assist|answer|provide|comply|respond|fulfil|fulfill|do that|discuss|engage|"
    r"support|give|offer|continue|participate|share|generate|complete)"
)
_REFUSAL = re.compile(
    rf"\b(?:i|we)\b(?:'m| am| are)?(?: really| just| simply| also)? (?:{_CANNOT}|{_UNABLE})"
    rf"(?: \w{{1,15}}){{0,2}} {_ACT}\b"
    rf"|\b{_UNABLE} {_ACT}\b"
    r"|\bas an? (?:ai|artificial intelligence|(?:large )?language model|virtual assistant)\b"
    r"|\bagainst my (?:guidelines|programming|policy|policies|principles)\b"
    r"|\bi (?:must|have to|will|need to)? ?(?:respectfully )?(?:decline|refuse)\b"
    r"|\A\W{0,8}(?:i'm|i am|we're|we are) (?:\w{1,10} )?sorry\b"
    r"|\A\W{0,8}(?:sorry, (?:but )?(?:i|we) |i apologi[sz]e\b|my apologies\b)"
    r"|\b(?:es )?tut mir leid\b|\bich kann (?:ihnen |dir |das |diese |darauf |dabei )?"
    r"(?:frage )?(?:leider )?nicht\b"
    r"|\blo siento\b|\bno puedo (?:ayudar|responder|contestar|proporcionar)"
    r"|\bje (?:suis )?désolée?\b|\bje ne peux pas\b"
    r"|\bmi dispiace\b|\bnon posso (?:aiutar|rispondere|fornire)"
    r"|\b(?:desculpe|sinto muito|lamento)\b|\bnão posso (?:ajudar|responder|fornecer)"
    r"|\bhet spijt me\b|\bprzykro mi\b|\bnie mogę (?:pomóc|odpowiedzieć)"
    r"|извините|к сожалению, я не|я не могу (?:помочь|ответить|предоставить)|вибачте"
    r"|对不起|抱歉|很遗憾|無法回答|无法回答|不能回答|無法提供|无法提供|我不能|我无法"
    r"|申し訳|お答えできません|回答できません|죄송|답변할 수 없|도와드릴 수 없"
    r"|üzgünüm|آسف|عذرا|لا أستطيع|لا يمكنني|מצטער|क्षमा करें|माफ़ करें",
    re.IGNORECASE,
)


def find_refusal(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the offsets of the words that decline, None where the text does not.

    "I do not know" is no refusal: the model answered, without an answer.
    """
    match = _REFUSAL.search(text[start:end])
    return None if match is None else (start + match.start(), start + match.end())
