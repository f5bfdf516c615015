"""Labels that are an answer by where they stand: at the head, or alone on a line."""

from __future__ import annotations

from dataclasses import dataclass

from assay.extraction import lexicon
from assay.extraction.context import after_own_text, introduced
from assay.extraction.document import Document, Mention
from assay.extraction.tokens import BREAK, NUMBER, PUNCT, WORD

_BULLETS = frozenset("-•>+#(*[·")
_LIST_MARKS = frozenset(".):]-–—")
_HEAD_MARKS = _LIST_MARKS | frozenset(",(!?;=。，、；")
_RIVAL_MARKS = _HEAD_MARKS | frozenset("(")
_REASONS = lexicon.REASONS | lexicon.TURNS
_HEDGES = _REASONS | lexicon.FILLERS | {"i"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A label at the beginning of a line.

    Parameters
    ----------
    mention : Mention
        The label.
    start : int
        First token of the line.
    line : int
        Number of the line among those that are not blank.
    alone : bool
        Nothing else stands on the line.
    text : str
        Whose option text follows it: "own", "other" or "".
    rival : Mention or None
        Another label directly behind it ("1. 2. 3.").
    """

    mention: Mention
    start: int
    line: int
    alone: bool
    text: str
    rival: Mention | None = None


def find_entries(document: Document) -> list[Entry]:
    """Return the labels that begin a line, in order; rejected ones are left out."""
    entries = []
    line = -1
    for index in range(len(document.tokens)):
        if document.kind(index) == BREAK or document.kind(index - 1) != BREAK:
            continue
        line += 1
        entry = _entry(document, index, line)
        if entry is not None:
            entries.append(entry)
    return entries


def _entry(document: Document, start: int, line: int) -> Entry | None:
    index = start
    if document.kind(index) == NUMBER and not document.digits and _marked(document, index):
        index += 2  # "1. C": the number of a list.
    while document.kind(index) == PUNCT and document.key(index) in _BULLETS and index < start + 5:
        index += 1
    mention = document.mentions.get(index)
    if mention is None or mention.rejected:
        return None
    if mention.label is None and _no_label(document, index):
        return None
    alone = _alone(document, index)
    if not alone and not _begins_line(document, index, head=line == 0):
        return None
    return Entry(mention, start, line, alone, introduced(document, index), _rival(document, index))


def _no_label(document: Document, index: int) -> bool:
    """Tell whether an option text stands there, or a number begins an item of another list."""
    if document.options and document.options.at(document.position(index)):
        return True
    number = document.kind(index) == NUMBER and not document.digits
    return number and not _alone(document, index)


def _marked(document: Document, index: int) -> bool:
    following = document.kind(index + 2) not in (BREAK, PUNCT)
    return document.key(index + 1) in (".", ")") and following


def _alone(document: Document, index: int) -> bool:
    """Tell whether the rest of the line only repeats the label."""
    position = index + 1
    while document.kind(position) != BREAK:
        if document.kind(position) != PUNCT and document.key(position) != document.key(index):
            return False
        position += 1
    return True


def _begins_line(document: Document, index: int, *, head: bool) -> bool:
    following = document.key(index + 1)
    if document.kind(index + 1) == PUNCT:
        return following in (_HEAD_MARKS if head else _LIST_MARKS)
    relation = introduced(document, index)
    if relation == "own" or relation and document.tokens[index].key not in lexicon.WORD_LETTERS:
        return True
    if not head or document.tokens[index].key in lexicon.WORD_LETTERS:
        return head and following in _REASONS
    return following in _HEDGES or _capitalised_after(document, index)


def _capitalised_after(document: Document, index: int) -> bool:
    """Tell "B Copper wire" from "E depois" and "B cells"."""
    if document.mentions[index].plain or document.kind(index + 1) != WORD:
        return False
    return document.raw(document.tokens[index + 1].start).isupper()


def _rival(document: Document, index: int) -> Mention | None:
    """Return the next label of a list on one line: "1. 2. 3.", "A. Iron B. Copper"."""
    position = index + 1
    if document.own_text_follows(index):
        position = after_own_text(document, index)
    for _ in range(3):
        if document.kind(position) == PUNCT and document.key(position) in _RIVAL_MARKS:
            position += 1
    other = document.mentions.get(position)
    if other is None or other.rejected or other.label is None:
        return None
    if other.label == document.mentions[index].label:
        return None
    return other if document.kind(position + 1) in (BREAK, PUNCT) else None
