"""Compare a place in the text with the option texts, spelling details aside.

Texts are compared as squeezed keys: case-folded letters and digits with the symbols that change
a meaning, without spaces, hyphens and other punctuation, so that "anti-symmetric only" equals
"antisymmetric only" while "n >= 5" and "n <= 5" differ.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.extraction.normalize import fold

_SYMBOLS = frozenset("%$€£¥°√/^!")
# A cut text names an option when it shows two words, or one longer than articles are.
_SHORT_WORD = 5


@dataclass(frozen=True, slots=True)
class OptionMatch:
    """Options (indices) whose whole text stands at a place; `end` is its folded offset."""

    indices: tuple[int, ...]
    end: int


class Squeezed:
    """A folded text as a squeezed key, with the offset of every key character."""

    def __init__(self, text: str, start: int, end: int):
        pairs = list(_squeeze(text, start, end))
        self.key = "".join(character for character, _ in pairs)
        self.offsets = [offset for _, offset in pairs]

    def boundary(self, index: int) -> bool:
        """Tell whether a word ends before key position `index`."""
        if index >= len(self.key) or index == 0:
            return True
        return self.offsets[index] - self.offsets[index - 1] != 1 or not (
            self.key[index].isalnum() and self.key[index - 1].isalnum()
        )


def _squeeze(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    for offset in range(start, end):
        character = text[offset]
        if character.isalnum() or (character > "\x7f" and unicodedata.category(character) == "Mn"):
            for folded in character.casefold():
                yield folded, offset
        elif _meaningful(text, offset, start, end):
            yield character, offset


def _meaningful(text: str, offset: int, start: int, end: int) -> bool:
    """Tell whether a symbol distinguishes options: operators, signs and decimal points."""
    character = text[offset]
    if character in "-.":
        before = text[offset - 1] if offset > start else " "
        after = text[offset + 1] if offset + 1 < end else " "
        sign_or_point = not before.isalnum() or before.isdigit() and character == "."
        return after.isdigit() and sign_or_point
    return character in _SYMBOLS or unicodedata.category(character) == "Sm"


@lru_cache(maxsize=4096)
def option_keys(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the squeezed key of every option."""
    folded = (fold(option).text for option in options)
    return tuple(Squeezed(text, 0, len(text)).key for text in folded)


class OptionTexts:
    """The option texts of one item, looked up in one squeezed text."""

    def __init__(self, options: Sequence[str], squeezed: Squeezed):
        self.keys = option_keys(tuple(options))
        self.longest = max(map(len, self.keys), default=0)
        self.text = squeezed

    def whole(self) -> tuple[int, ...]:
        """Return the options that equal the whole text."""
        return tuple(index for index, key in enumerate(self.keys) if key and key == self.text.key)

    def at(self, position: int) -> OptionMatch | None:
        """Return the longest option text that stands at key `position`, ending with a word."""
        best: list[int] = []
        length = 0
        for index, key in enumerate(self.keys):
            if len(key) < max(length, 1) or not self.text.key.startswith(key, position):
                continue
            if not self.text.boundary(position + len(key)):
                continue
            if len(key) > length:
                best, length = [], len(key)
            best.append(index)
        if not best:
            return None
        return OptionMatch(tuple(best), self.text.offsets[position + length - 1] + 1)

    def cut(self, position: int, end: int) -> tuple[int, ...]:
        """Return the options that begin with the key text from `position` to `end`."""
        if not 0 < end - position <= self.longest:
            return ()
        piece = self.text.key[position:end]
        return tuple(i for i, key in enumerate(self.keys) if key.startswith(piece))

    def telling(self, position: int, end: int) -> bool:
        """Tell whether the key text is more than an article or another short word."""
        inner = sum(self.text.boundary(index) for index in range(position + 1, end))
        return inner > 0 or end - position >= _SHORT_WORD
