"""A label, or an option text, that a text gives as its answer."""

from __future__ import annotations

from dataclasses import dataclass

from assay.extraction.context import Chain

DECLARED, DIRECT, NAMED, CONCLUSION = "declared", "direct", "named", "conclusion"
BOXED, TAGGED, VERDICT = "boxed", "tagged", "verdict"
DECLARED_TEXT, CONCLUSION_TEXT = "declared_text", "conclusion_text"
CONCLUDING = frozenset([CONCLUSION, CONCLUSION_TEXT])
_WEAK = CONCLUDING | {NAMED}


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim.

    Parameters
    ----------
    rule : str
        The frame that was found: how the text claims it.
    first, last : int
        Token range, both ends included.
    chain : Chain or None
        The labels; None where an option text is claimed.
    options : tuple of int
        The options whose text is claimed.
    crossed : bool
        A line break lies between the frame and the label.
    disputed : bool
        The option text is followed by the label of another option: "Gold (B)".
    """

    rule: str
    first: int
    last: int
    chain: Chain | None = None
    options: tuple[int, ...] = ()
    crossed: bool = False
    disputed: bool = False

    @property
    def firm(self) -> bool:
        """Return whether it is a declaration, not only a name or a conclusion."""
        return self.rule not in _WEAK
