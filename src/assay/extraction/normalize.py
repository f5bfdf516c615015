"""Compatibility folding that remembers where every character came from."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# Long runs of combining marks are folded in pieces: canonical reordering is quadratic in them.
_LONGEST_CLUSTER = 16

_ZERO_WIDTH = frozenset(
    [0x00AD, 0x061C, 0x180E, 0xFEFF]
    + [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
    + [*range(0xFE00, 0xFE10), *range(0xE0000, 0xE0200)]
)
_PLAIN = {
    **dict.fromkeys("‘’‚‛ʼ", "'"),
    **dict.fromkeys("“”„‟«»「」『』", '"'),
    **dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", "\n"),
    **dict.fromkeys("‐‑", "-"),
}
_ASCII_BREAKS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e", "\n"))
_ASCII = re.compile(r"[\x00-\x7f]++")
ZERO_WIDTH = "\u200b"
# A superscript is an exponent or a footnote, a vulgar fraction a quantity: never a label.
_KEPT_FORMS = ("<super>", "<sub>", "<fraction>")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text after NFKC and removal of invisible characters, with its way back.

    `starts[i]` and `ends[i]` bound the original characters that became `text[i]`; both are None
    where folding changed nothing.
    """

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the original text of the non-empty `text[start:end]`."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


def fold(text: str) -> Folded:
    """Return `text` in NFKC, without zero-width characters, with plain quotes and line breaks.

    Look-alike letters of other scripts stay what they are. Linear in the length of `text`.
    """
    if text.isascii():
        return Folded(text.translate(_ASCII_BREAKS))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    last = ""
    while position < len(text):
        plain = _plain_end(text, position)
        pieces.append(text[position:plain].translate(_ASCII_BREAKS))
        starts.extend(range(position, plain))
        ends.extend(range(position + 1, plain + 1))
        end = _cluster_end(text, plain)
        last = text[plain - 1] if plain > position else last
        piece = _fold_cluster(text[plain:end], after_digit=last.isdigit())
        pieces.append(piece)
        starts.extend([plain] * len(piece))
        ends.extend([end] * len(piece))
        last = piece[-1:] or last
        position = end
    return Folded("".join(pieces), starts, ends)


def _plain_end(text: str, start: int) -> int:
    """Return the end of the ASCII characters that nothing behind them can extend."""
    match = _ASCII.match(text, start)
    return start if match is None else max(match.end() - 1, start)


def _cluster_end(text: str, start: int) -> int:
    """Return the end of the base character at `start` with the marks that follow it."""
    end = start + 1
    limit = min(len(text), start + _LONGEST_CLUSTER)
    while end < limit and _extends(text[end]):
        end += 1
    return end


def _extends(character: str) -> bool:
    """Tell whether a character joins the one before it (marks, conjoining Hangul)."""
    return character > "\u02ff" and (
        unicodedata.combining(character) != 0 or "\u1160" <= character <= "\u11ff"
    )


def _fold_cluster(cluster: str, *, after_digit: bool) -> str:
    first = cluster[0]
    if len(cluster) == 1:
        if first in _PLAIN:
            return _PLAIN[first]
        if first.isascii():
            return first
        if ord(first) in _ZERO_WIDTH:
            # Kept after a digit: dropping it there could join "1" and "2" into a twelve.
            return ZERO_WIDTH if after_digit else ""
        if unicodedata.decomposition(first).startswith(_KEPT_FORMS):
            return first
    return unicodedata.normalize("NFKC", cluster)
