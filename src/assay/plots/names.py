"""Names that fit: measured in points, cut in the middle, never made equal by the cut."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

_ELLIPSIS = "…"
_FAMILY = "DejaVu Sans"


def text_width(text: str, size: float) -> float:
    """Return the width of `text` in points when set in the figures' type at `size` points."""
    font = FontProperties(family=_FAMILY, size=size)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def elide(text: str, width: float, size: float) -> str:
    """Return `text`, cut in the middle where it is wider than `width` points.

    Model names differ at both ends (family, then size and precision), so both ends are kept.

    Examples
    --------
    >>> elide("short", 100, 7)
    'short'
    >>> elide("a-very-long-model-name-instruct", 60, 7)
    'a-very-lo…struct'
    """
    kept = len(text)
    shown = text
    while kept > 1 and text_width(shown, size) > width:
        kept -= 1
        tail = kept * 2 // 5
        shown = text[: kept - tail] + _ELLIPSIS + (text[-tail:] if tail else "")
    return shown


def fit_names(names: Sequence[str], width: float, size: float) -> list[str]:
    """Return one distinct label at most `width` points wide for each of the distinct `names`.

    Names that would look the same after the cut get a number.
    """
    shown = [elide(name, width, size) for name in names]
    if len(set(shown)) == len(set(names)):
        return shown
    room = width - text_width(f" {len(names)}", size)
    return [
        label if shown.count(label) == 1 else f"{elide(name, room, size)} {index}"
        for index, (name, label) in enumerate(zip(names, shown, strict=True), start=1)
    ]
