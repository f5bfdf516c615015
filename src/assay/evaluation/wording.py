"""Numbers as people read them, the same in Markdown, in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping

from assay.evaluation.results import Bounds
from assay.evaluation.verdicts import Comparison

NONE = "–"
#: Guardrails whose change is relative; that of the others is a difference of shares.
RELATIVE = frozenset({"tokens", "cost", "latency_p50", "latency_p95"})


def share(value: float | None) -> str:
    """Return a share in per cent, or a dash where it is not defined.

    Examples
    --------
    >>> share(0.456), share(None)
    ('45.6 %', '–')
    """
    return NONE if value is None else f"{100 * value:.1f} %"


def points(value: float | None) -> str:
    """Return a difference of two shares in points, with its sign.

    Examples
    --------
    >>> points(0.4), points(-0.012), points(0.0)
    ('+40.0', '−1.2', '0.0')
    """
    return NONE if value is None else signed(100 * value)


def signed(value: float) -> str:
    """Return a number with one decimal and its sign; what rounds to zero has none."""
    text = f"{abs(value):.1f}"
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "−") + text


def growth(value: float | None) -> str:
    """Return a relative change in per cent, with its sign.

    Examples
    --------
    >>> growth(0.05), growth(None)
    ('+5.0 %', '–')
    """
    return NONE if value is None else f"{signed(100 * value)} %"


def interval(bounds: Bounds | None, *, difference: bool = False) -> str:
    """Return an interval of shares, in per cent or as points of a difference.

    Examples
    --------
    >>> interval(Bounds(low=0.2, high=0.31, method="Wilson"))
    '20.0 to 31.0'
    """
    if bounds is None or bounds.low is None or bounds.high is None:
        return NONE
    if difference:
        return f"{points(bounds.low)} to {points(bounds.high)}"
    return f"{100 * bounds.low:.1f} to {100 * bounds.high:.1f}"


def p_value(value: float | None) -> str:
    """Return a p-value to two significant digits, never as zero.

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-9)
    ('0.031', '< 0.0001')
    """
    if value is None:
        return NONE
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def amount(value: float | None, *, decimals: int = 0) -> str:
    """Return a measured amount with thousands set apart.

    Examples
    --------
    >>> amount(12345.6), amount(None)
    ('12,346', '–')
    """
    return NONE if value is None else f"{value:,.{decimals}f}"


def codes(counts: Mapping[str, int], *, most: int = 4) -> str:
    """Return failure codes with their counts, the first `most` of them.

    Examples
    --------
    >>> codes({"TASK_TIMEOUT": 3, "VERIFIER_ERROR": 1}, most=1)
    'TASK_TIMEOUT 3, 1 more'
    """
    shown = [f"{code} {count}" for code, count in list(counts.items())[:most]]
    if len(counts) > most:
        shown.append(f"{len(counts) - most} more")
    return ", ".join(shown) or NONE


def conduct(found: Comparison) -> str:
    """Say how the arms were run, and what the missing outcomes could change."""
    design, tipping = found.design, found.tipping_point
    order = (
        design.order
        or {None: "unknown", True: "interleaved", False: "one after the other"}[design.interleaved]
    )
    drift = {None: "unknown", True: "yes", False: "no"}[design.version_drift]
    said = (
        f"Order of the arms: {order}; stopping rule: {design.stopping_rule or 'unknown'}; the "
        f"runner's version changed: {drift}."
    )
    if tipping is None or not tipping.missing:
        return said
    if tipping.against is None:
        return f"{said} However the {tipping.missing} missing outcomes fell, they decide nothing."
    return (
        f"{said} Of {tipping.missing} missing outcomes {tipping.against} against the candidate "
        "would undo the gain."
    )
