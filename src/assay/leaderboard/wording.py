"""Numbers and lists as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """Return a share of items as a percentage.

    Examples
    --------
    >>> percent(0.7134)
    '71.3 %'
    """
    return f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """Return a difference of shares in percentage points; a rounded zero has no sign.

    Examples
    --------
    >>> points(0.0213), points(-0.00001)
    ('2.1', '0.0')
    """
    text = f"{100 * difference:.1f}"
    return "0.0" if text == "-0.0" else text


def interval(low: float, high: float, *, level: float) -> str:
    """Return an interval of shares as a bracket in percent.

    Examples
    --------
    >>> interval(0.312, 0.4, level=0.95)
    '95 % interval 31.2 to 40.0 %'
    """
    return f"{100 * level:g} % interval {points(low)} to {points(high)} %"


def gap_interval(low: float, high: float, *, level: float) -> str:
    """Return an interval of a difference in points.

    Examples
    --------
    >>> gap_interval(-0.02, 0.11, level=0.95)
    '95 % interval -2.0 to 11.0'
    """
    return f"{100 * level:g} % interval {points(low)} to {points(high)}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun in the right form.

    Examples
    --------
    >>> count(1, "item"), count(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def about(number: float) -> str:
    """Return a number of items rounded up to two digits.

    Examples
    --------
    >>> about(2582.0), about(61.0)
    ('2,600', '61')
    """
    whole = int(-(-number // 1))
    step = 10 ** max(len(str(whole)) - 2, 0)
    return f"{-(-whole // step) * step:,}"


def listed(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)
