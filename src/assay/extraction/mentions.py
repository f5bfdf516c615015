"""Find where labels are mentioned, and keep out articles, pronouns, counts and formulas."""

from __future__ import annotations

from assay.extraction import lexicon
from assay.extraction.document import Document, Mention
from assay.extraction.tokens import BREAK, LETTER, NUMBER, PUNCT, QUANTITY, RUN, WORD, Token

_OPENING = frozenset("([")
_CLOSING = frozenset(")]")
_PAUSES = frozenset(".;:")
_LARGEST_LABEL = 26
_FORMULA_LEFT = frozenset("°^@+")
_FORMULA_RIGHT = frozenset("%°^+#@")
_OPERATORS = frozenset("=<>≤≥≠×÷^+∈")


def find_mentions(document: Document) -> dict[int, Mention]:
    """Return the mentions by token position, in the order of the text."""
    found = {}
    for index, token in enumerate(document.tokens):
        if token.kind in (LETTER, NUMBER):
            mention = _label_mention(document, index)
        elif token.kind == WORD and token.end - token.start == 1:
            mention = _lookalike_mention(document, index)
        else:
            continue
        if mention is not None:
            found[index] = mention
    return found


def _label_mention(document: Document, index: int) -> Mention | None:
    token = document.tokens[index]
    enclosed = _enclosed(document, index)
    if _other_kind(document, index) or _in_formula(document, index):
        return None
    if _conjunction(document, index) or not enclosed and _counts(document, index):
        return None
    named = document.key(index - 1) in lexicon.NAMERS
    if named and token.kind == NUMBER:
        return None
    lower = document.raw(token.start).islower()
    plain = named or lower and not enclosed
    return Mention(index, document.labels.get(token.key), enclosed, plain)


def _other_kind(document: Document, index: int) -> bool:
    """Tell whether a number among letters, or a letter among numbers, is no label at all."""
    token = document.tokens[index]
    if token.kind == NUMBER:
        return not document.digits and not 0 < int(token.key[:4]) <= _LARGEST_LABEL
    # "A: 3": the letter stands for "answer".
    return document.digits and token.key == "a" and document.key(index + 1) == ":"


def _lookalike_mention(document: Document, index: int) -> Mention | None:
    token = document.tokens[index]
    if document.raw(token.start) not in lexicon.LOOKALIKES or document.digits:
        return None
    if document.kind(index + 1) in (WORD, LETTER, NUMBER, QUANTITY):
        return None
    return Mention(index, None, lookalike=True)


def _enclosed(document: Document, index: int) -> bool:
    """Tell whether brackets or bold type set the token apart: "(B)", "B)", "**B**", "**B."."""
    token = document.tokens[index]
    if document.key(index + 1) in _CLOSING and document.kind(index + 1) == PUNCT:
        if document.key(index - 1) in _OPENING:
            return not document.raw(document.tokens[index - 1].start - 1).isalnum()
        # "x = 1, y = 2)" closes a bracket from before, "B) Copper" does not.
        return document.kind(index - 1) == BREAK or document.key(index - 1) in _PAUSES
    bold = document.raw(token.start - 1) == "*" and document.raw(token.end) in "*.:,"
    return bold and not document.raw(token.start - 2).isalnum()


def _in_formula(document: Document, index: int) -> bool:
    """Tell whether the token is part of a number, an abbreviation or a formula."""
    token = document.tokens[index]
    left, right = document.raw(token.start - 1), document.raw(token.end)
    if left in _FORMULA_LEFT or right in _FORMULA_RIGHT or document.key(index + 1) in _OPERATORS:
        return True
    if left == right == "~":
        return True  # Struck out.
    if "n/a" in (document.text[token.start : token.start + 3].lower(), _three_to(document, token)):
        return True
    if left == "_" and document.raw(token.start - 2).isalnum():
        return True
    if right == "_" and document.raw(token.end + 1).isalnum():
        return True
    if token.kind == NUMBER:
        return _in_amount(document, index)
    if right == "(" and token.key not in document.labels:
        return True  # "f(2)"
    # "e.g.", "U.S.", "a.m.": letters with points between them.
    after = right == "." and document.kind(index + 2) == LETTER
    before = left == "." and document.kind(index - 2) == LETTER
    return (
        after
        and document.tokens[index + 2].start == token.end + 1
        or (before and document.tokens[index - 2].end == token.start - 1)
    )


def _three_to(document: Document, token: Token) -> str:
    return document.text[max(token.end - 3, 0) : token.end].lower()


def _in_amount(document: Document, index: int) -> bool:
    token = document.tokens[index]
    left, right = document.raw(token.start - 1), document.raw(token.end)
    if left in "€£¥" or left == "$" and right != "$":
        return True
    if left in "-−" and not document.raw(token.start - 2).isalnum():
        return True
    if right == ":" and document.raw(token.end + 1).isdigit():
        return True
    if left == ":" and document.raw(token.start - 2).isdigit():
        return True
    unit = document.kind(index + 1) in (WORD, RUN, LETTER)
    return unit and document.key(index + 1) in lexicon.UNITS


def _conjunction(document: Document, index: int) -> bool:
    """Tell whether a single letter joins two others: Spanish "B o C", Italian "A e B"."""
    token = document.tokens[index]
    if token.key not in lexicon.CONNECTORS or not document.raw(token.start).islower():
        return False
    before = document.kind(index - 1) == LETTER or document.key(index - 1) in _CLOSING
    after = document.kind(index + 1) == LETTER or document.key(index + 1) in _OPENING
    return before and after


def _counts(document: Document, index: int) -> bool:
    """Tell whether the token is an article, a pronoun or a count before the next word."""
    token = document.tokens[index]
    if token.kind == LETTER and token.key not in lexicon.COUNTED_LETTERS:
        return False
    following = document.kind(index + 1)
    if following not in (WORD, QUANTITY, LETTER, NUMBER):
        return False
    if document.key(index + 1) in lexicon.FUNCTION_WORDS:
        return False
    if following in (LETTER, NUMBER) and document.key(index + 1) in document.labels:
        return False
    if document.own_text_follows(index):
        return False
    # "The answer is A metal": an article would not be a capital in the middle of a sentence.
    capital = token.key == "a" and document.raw(token.start).isupper()
    return not (capital and document.key(index - 1) in lexicon.COPULAS)
