"""One answer with the labels and option texts it is read against."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.extraction.options import OptionTexts, Squeezed
from assay.extraction.tokens import BREAK, Token


@dataclass(slots=True)
class Mention:
    """A label-shaped token.

    Parameters
    ----------
    index : int
        Position of the token.
    label : str or None
        The offered label it spells; None where no such label was offered.
    enclosed : bool
        Stands in brackets, in bold, or before a closing bracket.
    plain : bool
        Nothing but its place marks it as a label (lower case, or named as something else).
    lookalike : bool
        A letter of another script that looks like a label.
    rejected : bool
        The text says it is not the answer.
    """

    index: int
    label: str | None
    enclosed: bool = False
    plain: bool = False
    lookalike: bool = False
    rejected: bool = False


class Document:
    """Tokens, labels and option texts, and the ways from one to the other."""

    def __init__(
        self,
        text: str,
        bounds: tuple[int, int],
        tokens: list[Token],
        labels: Sequence[str],
        options: Sequence[str] | None,
    ):
        self.text = text
        self.start, self.end = bounds
        self.tokens = tokens
        self.starts = [token.start for token in tokens]
        self.labels = {label.casefold(): label for label in labels}
        self.digits = labels[0].isdigit()
        self.order = list(labels)
        self.shown = options
        self.mentions: dict[int, Mention] = {}

    @cached_property
    def squeezed(self) -> Squeezed:
        """Return the answer as a squeezed key."""
        return Squeezed(self.text, self.start, self.end)

    @cached_property
    def options(self) -> OptionTexts | None:
        """Return the option texts, None where none were given."""
        return OptionTexts(self.shown, self.squeezed) if self.shown else None

    def kind(self, index: int) -> str:
        """Return the kind of a token; beyond either end the text breaks off."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else BREAK

    def key(self, index: int) -> str:
        """Return the spelling of a token, empty beyond either end."""
        return self.tokens[index].key if 0 <= index < len(self.tokens) else ""

    def position(self, index: int) -> int:
        """Return where token `index` begins in the squeezed key."""
        if index >= len(self.tokens):
            return len(self.squeezed.key)
        return bisect_left(self.squeezed.offsets, self.tokens[index].start)

    def token_at(self, offset: int) -> int:
        """Return the first token that begins at or after a folded offset."""
        return bisect_left(self.starts, offset)

    def own_text_follows(self, index: int) -> bool:
        """Tell whether the label at token `index` is followed by its own option text."""
        label = self.labels.get(self.key(index))
        if self.options is None or label is None:
            return False
        match = self.options.at(self.position(index + 1))
        return match is not None and self.order.index(label) in match.indices

    def raw(self, offset: int) -> str:
        """Return the folded character at `offset`, a space beyond the answer."""
        return self.text[offset] if self.start <= offset < self.end else " "
