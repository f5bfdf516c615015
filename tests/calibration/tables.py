"""The calibration tables as a Markdown page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from support import simulation as sim

Measured = Sequence[tuple[sim.Scenario, Mapping[str, sim.Rate]]]

_HEAD = """\
# Calibration: how often each verdict is wrong

Written by `make calibration`; do not edit. Every verdict of this software is simulated on data
whose truth is known: under a null, where any claim is wrong, and under a stated effect. Each cell
is the share of {runs:,} simulated data sets (seeds fixed) in which the claim was made, with its
95 % interval. Beside our rules stand rules in common use, *in italics*, on the same data.

**Bold**: credibly above the promised rate: so many wrong verdicts have a probability of at most
{credible:.1%} if the promise holds ({slow} of 2,000 or {fast} of 300 where 5 % is promised). The
tests fail on any of ours that is bold, and on any power that is credibly below the floor stated for
it. Where a rule has no cell, it does not apply to these data.
"""


def page(measured: Sequence[tuple[sim.Path, Measured]], runs: int) -> str:
    """Return the whole page."""
    return "\n".join([_head(runs), *(_section(path, rows) for path, rows in measured)])


def renewed(
    old: str, measured: Sequence[tuple[sim.Path, Measured]], runs: int, order: Sequence[str]
) -> str:
    """Return the page `old` with the sections of some paths measured anew.

    The numbers of a path do not depend on which others are measured.

    Parameters
    ----------
    order : sequence of str
        The names of all paths, in the order of the page; one that is measured may be new.

    Raises
    ------
    ValueError
        If the page has another number of runs, or lacks a path that was not measured.
    """
    if not old.startswith(_head(runs)):
        raise ValueError(f"the page is not one of {runs:,} runs: measure all of it.")
    parts = re.split(r"(?m)^(?=## )", old.removeprefix(_head(runs)))
    sections = {
        part[3:].split("\n", 1)[0]: part.rstrip("\n") + "\n"
        for part in parts
        if part.startswith("## ")
    }
    sections |= {path.name: _section(path, rows) for path, rows in measured}
    if lacking := [name for name in order if name not in sections]:
        raise ValueError(f"the page lacks {lacking[0]}: measure it too.")
    return "\n".join([_head(runs), *(sections[name] for name in order)])


def _head(runs: int) -> str:
    return _HEAD.format(
        runs=runs,
        credible=sim.CREDIBLE,
        slow=sim.too_many(sim.SLOW, 0.05),
        fast=sim.too_many(sim.FAST, 0.05),
    )


def _section(path: sim.Path, rows: Measured) -> str:
    lines = [f"## {path.name}", "", path.question, "", f"Decided by: {path.product}.", ""]
    for rule in path.rules:
        kind = "in common use" if rule.naive else f"ours, promises {_percent(rule.alpha)} at most"
        lines.append(f"- {_name(rule)} ({kind}): {rule.calls}")
    for title, null in (("Wrong claims", True), ("Power", False)):
        chosen = [(scenario, rates) for scenario, rates in rows if scenario.null == null]
        lines += ["", f"### {path.name}: {title.lower()}", "", *_table(path, chosen)]
    return "\n".join([*lines, ""])


def _table(path: sim.Path, rows: Measured) -> list[str]:
    used = [rule for rule in path.rules if any(rule.name in rates for _, rates in rows)]
    lines = [
        "| " + " | ".join(["data", "n", *map(_name, used)]) + " |",
        "|" + "---|" * (2 + len(used)),
    ]
    for scenario, rates in rows:
        cells = [_cell(rates.get(rule.name), scenario, rule) for rule in used]
        lines.append("| " + " | ".join([scenario.setting, scenario.n, *cells]) + " |")
    return lines


def _name(rule: sim.Rule) -> str:
    return f"*{rule.name}*" if rule.naive else rule.name


def _cell(rate: sim.Rate | None, scenario: sim.Scenario, rule: sim.Rule) -> str:
    if rate is None:
        return ""
    low, high = rate.interval
    value = f"{_percent(rate.value)} [{100 * low:.1f}, {100 * high:.1f}]"
    if rate.broken:
        value = f"**{value}**"
    floor = scenario.floors.get(rule.name, math.nan)
    return value if math.isnan(floor) else f"{value}, floor {_percent(floor)}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
