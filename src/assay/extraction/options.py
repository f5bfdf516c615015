"""Compare a place in the text with the option texts, spelling details aside.

Texts are compared as squeezed keys: case-folded letters and digits with the symbols that change
a meaning, without spaces, hyphens and other punctuation, so that "anti-symmetric only" equals
"antisymmetric only" while "n >= 5" and "n <= 5" differ.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.extraction.normalize import fold

_SYMBOLS = frozenset("%/^!+<=>|")
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
        characters: list[str] = []
        self.offsets: list[int] = []
        for offset in range(start, end):
            character = text[offset]
            if not (_kept(character) or _meaningful(text, offset, start, end)):
                continue
            folded = character.casefold()
            characters.append(folded)
            self.offsets.extend([offset] * len(folded))
        self.key = "".join(characters)

    def boundary(self, index: int) -> bool:
        """Tell whether a word ends before key position `index`."""
        if index >= len(self.key) or index == 0:
            return True
        return self.offsets[index] - self.offsets[index - 1] != 1 or not (
            self.key[index].isalnum() and self.key[index - 1].isalnum()
        )


def _kept(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in _SYMBOLS
    return character.isalnum() or unicodedata.category(character) in ("Mn", "Sm", "Sc", "So")


def _meaningful(text: str, offset: int, start: int, end: int) -> bool:
    """Tell whether a sign or a decimal point stands there."""
    character = text[offset]
    if character not in "-.":
        return False
    before = text[offset - 1] if offset > start else " "
    after = text[offset + 1] if offset + 1 < end else " "
    return after.isdigit() and (not before.isalnum() or before.isdigit() and character == ".")


class OptionKeys:
    """The squeezed keys of the options, and which of them begin with a character."""

    def __init__(self, options: tuple[str, ...]):
        folded = [fold(option).text for option in options]
        self.keys = [Squeezed(text, 0, len(text)).key for text in folded]
        self.longest = max(map(len, self.keys), default=0)
        self.beginning: dict[str, list[tuple[int, str]]] = {}
        for index, key in enumerate(self.keys):
            self.beginning.setdefault(key[:1], []).append((index, key))


@lru_cache(maxsize=4096)
def option_keys(options: tuple[str, ...]) -> OptionKeys:
    """Return the keys of the options; the same options are read against many texts."""
    return OptionKeys(options)


class OptionTexts:
    """The option texts of one item, looked up in one squeezed text."""

    def __init__(self, options: Sequence[str], squeezed: Squeezed):
        self.options = option_keys(tuple(options))
        self.text = squeezed

    def whole(self) -> tuple[int, ...]:
        """Return the options that equal the whole text."""
        key = self.text.key
        return tuple(i for i, other in enumerate(self.options.keys) if other and other == key)

    def at(self, position: int) -> OptionMatch | None:
        """Return the longest option text that stands at key `position`, ending with a word."""
        text = self.text
        best: list[int] = []
        length = 1
        for index, key in self.options.beginning.get(text.key[position : position + 1], ()):
            if len(key) < length or not text.key.startswith(key, position):
                continue
            if not text.boundary(position + len(key)):
                continue
            if len(key) > length:
                best, length = [], len(key)
            best.append(index)
        if not best:
            return None
        return OptionMatch(tuple(best), text.offsets[position + length - 1] + 1)

    def cut(self, position: int, end: int) -> tuple[int, ...]:
        """Return the options that begin with the key text from `position` to `end`."""
        if not 0 < end - position <= self.options.longest:
            return ()
        piece = self.text.key[position:end]
        return tuple(i for i, key in enumerate(self.options.keys) if key.startswith(piece))

    def telling(self, position: int, end: int) -> bool:
        """Tell whether the key text is more than an article or another short word."""
        inner = sum(self.text.boundary(index) for index in range(position + 1, end))
        return inner > 0 or end - position >= _SHORT_WORD
