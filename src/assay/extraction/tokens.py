"""Cut a folded text into words, single letters, numbers and punctuation; drop the markup.

The pattern's alternatives begin with disjoint characters and repeat single character classes, so
the scan is linear whatever the text is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

WORD, LETTER, NUMBER, QUANTITY, RUN, PUNCT, BREAK, CUE = (
    "word",
    "letter",
    "number",
    "quantity",
    "run",
    "punct",
    "break",
    "cue",
)

# Scripts written without spaces: a label may touch them ("答案是B", "Bです", "B입니다").
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and accents that `\w` leaves out, so that a word is not cut at them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff"
)
# Possessive: a run of letters is never given back, so no retry is possible.
_LETTERS = rf"(?:[^\W_{_UNSPACED}]++|[{_MARKS}]++)++"

_TOKEN = re.compile(
    r"(?P<break>\n|\\n(?![a-z]))"
    # A JSON decoder makes a backspace of the first two characters of "\boxed".
    r"|(?P<cue>\\(?:boxed|fbox)(?![a-z])|boxed(?=\{)|\x08oxed(?=\{)"
    r"|(?i:<(?:final_)?(?:answer|choice|option)>))"
    r"|(?P<mark>\\[A-Za-z]+|\\.|</?[A-Za-z][\w-]{0,20}\s?/?>|<\|[^|<>\s]{1,40}\|>"
    r"|[*`$\"{}~_\u200b\ufffd]|(?<!\w)'|'(?!\w))"
    r"|(?P<quantity>[0-9]+(?:\.[0-9]+)+|(?<![\w).])\.[0-9]+|[0-9]+(?:,[0-9]{3})+(?![0-9])"
    r"|[0-9]+,[0-9]+(?=\s?[^\W\d_]))"
    rf"|(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<word>{_LETTERS}(?:['-]{_LETTERS})*+)"
    r"|(?P<punct>[-=~]>|[^\w\s])"
)


class Token(NamedTuple):
    """One piece of the text: its kind, case-folded spelling and offsets in the folded text."""

    kind: str
    key: str
    start: int
    end: int


def tokenize(text: str, start: int, end: int) -> list[Token]:
    """Return the tokens of `text[start:end]` in order, without white space and markup."""
    tokens = []
    for match in _TOKEN.finditer(text, start, end):
        kind = match.lastgroup
        if kind == "mark" or kind is None:
            continue
        key = match.group().casefold()
        tokens.append(Token(_refine(kind, key), key, match.start(), match.end()))
    return tokens


def _refine(kind: str, key: str) -> str:
    if kind != "word":
        return kind
    if key.isascii():
        if key.isdigit():
            return NUMBER
        if len(key) == 1:
            return LETTER
    return WORD
