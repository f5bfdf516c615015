"""Tables as the page shows them: rows of numbers already turned into text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from assay.plots.tables import POOLED, row_dicts
from assay.report.inputs import ReportInputs

_NONE = "–"
#: The extractor whose verdicts count; the audit compares the others with it.
_STANDARD = "standard"


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, and what the table is sorted by."""

    text: str
    key: float | str


def percent(value: float, digits: int = 1) -> str:
    """Return a share in per cent without the sign, or a dash where it is undefined.

    Examples
    --------
    >>> percent(0.4567), percent(float("nan"))
    ('45.7', '–')
    """
    return _NONE if math.isnan(value) else f"{100 * value:.{digits}f}"


def share_cell(value: float) -> Cell:
    """Return a share as a cell; undefined ones sort last."""
    return Cell(percent(value), -1.0 if math.isnan(value) else value)


def leaderboard_rows(inputs: ReportInputs) -> list[dict[str, Any]]:
    """Return one row for each scope and model, best reference accuracy first."""
    ranks = _rank_ranges(inputs.tables["ranks"])
    at_reference = inputs.tables["accuracy"]
    at_reference = at_reference[at_reference["configuration"] == inputs.summary.reference]
    other = {(row["benchmark"], row["model"]): row for row in row_dicts(at_reference)}
    rows = []
    for scope in (POOLED, *inputs.benchmarks):
        table = inputs.tables["band"]
        table = table[table["benchmark"] == scope].sort_values(
            ["reference", "model"], ascending=[False, True]
        )
        for place, row in enumerate(row_dicts(table), start=1):
            key = (scope, row["model"])
            rows.append(_leaderboard_row(row, place, ranks.get(key), other.get(key, {})))
    return rows


def _leaderboard_row(
    row: dict[str, Any], place: int, ranks: tuple[int, int] | None, reference: dict[str, Any]
) -> dict[str, Any]:
    low, high = ranks or (0, 0)
    shares = ("min", "max", "robust", "optimistic", "order_robust", "format_robust")
    return {
        "benchmark": row["benchmark"],
        "model": row["model"],
        "place": place,
        "n": row["n"],
        "reference": share_cell(row["reference"]),
        "interval": f"{percent(row['reference_low'])}–{percent(row['reference_high'])}",
        "ranks": Cell(_NONE if not ranks else f"{low}" if low == high else f"{low}–{high}", low),
        "compliance": share_cell(reference.get("compliance", math.nan)),
        "scoring_robust": share_cell(row["scoring_robust"]),
        "min_configuration": row["min_configuration"],
        "max_configuration": row["max_configuration"],
        "strip": _strip(row, reference.get("chance", math.nan)),
        **{name: share_cell(row[name]) for name in shares},
    }


def _strip(row: dict[str, Any], chance: float) -> dict[str, float] | None:
    """Return the places of a row's band drawing, 0 to 100; None where there is nothing to draw."""
    names = ("min", "max", "reference", "reference_low", "reference_high", "robust", "optimistic")
    values = {name: row[name] for name in names} | {"chance": chance}
    if any(math.isnan(value) for value in values.values()):
        return None
    return {name: round(100 * value, 2) for name, value in values.items()}


def _rank_ranges(ranks: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    grouped = ranks.groupby(["benchmark", "model"], sort=False)["rank"].agg(["min", "max"])
    found = grouped.reset_index()
    return {
        (row["benchmark"], row["model"]): (int(row["min"]), int(row["max"]))
        for row in row_dicts(found)
    }


def pair_rows(inputs: ReportInputs) -> list[dict[str, Any]]:
    """Return one row for each scope and pair of models."""
    rows = []
    for row in row_dicts(inputs.tables["pairs"]):
        gap = Cell(signed(row["gap"]), 0.0 if math.isnan(row["gap"]) else row["gap"])
        rows.append(
            {
                **{name: row[name] for name in ("benchmark", "better", "worse", "verdict", "n")},
                "adjacent": bool(row["adjacent"]),
                "gap": gap,
                "interval": f"{signed(row['low'])} to {signed(row['high'])}",
                "discordant": f"{row['wrong_to_right']} / {row['right_to_wrong']}",
                "p": Cell(p_text(row["p_adjusted"]), row["p_adjusted"]),
                "needed": Cell(_count(row["needed_n"]), _sortable(row["needed_n"])),
                "share": share_cell(row["fragile_share_of_gap"]),
                "twin": share_cell(row["twin_fragile_share"]),
                "fragile_items": share_cell(row["fragile_item_share"]),
            }
        )
    return rows


def signed(value: float) -> str:
    """Return a difference in points with its sign.

    Examples
    --------
    >>> signed(0.012), signed(-0.2), signed(0.0)
    ('+1.2', '−20.0', '0.0')
    """
    if math.isnan(value):
        return _NONE
    rounded = f"{100 * abs(value):.1f}"
    if float(rounded) == 0:
        return rounded
    return ("+" if value > 0 else "−") + rounded


def p_text(value: float) -> str:
    """Return a p-value to two significant digits, never as zero.

    Examples
    --------
    >>> p_text(0.0312), p_text(1e-9), p_text(1.0)
    ('0.031', '< 0.0001', '1.0')
    """
    if math.isnan(value):
        return _NONE
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}" if value < 1 else "1.0"


def _count(value: float) -> str:
    return _NONE if math.isnan(value) else f"{value:,.0f}"


def _sortable(value: float) -> float:
    return -1.0 if math.isnan(value) else value


def audit_table(inputs: ReportInputs) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the other extractors, and per model what each would change (pooled)."""
    table = inputs.tables["extraction_audit"]
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in row_dicts(table[table["benchmark"] == POOLED]):
        found.setdefault(row["model"], {})[row["extractor"]] = row
    others = sorted({name for tallies in found.values() for name in tallies} - {_STANDARD})
    rows = [
        {
            "model": model,
            "n": tallies[_STANDARD]["n"],
            "standard": share_cell(tallies[_STANDARD]["accuracy"]),
            "others": [_audit_cell(tallies.get(name)) for name in others],
        }
        for model, tallies in found.items()
    ]
    return others, rows


def _audit_cell(tally: dict[str, Any] | None) -> Cell:
    if tally is None:
        return Cell(_NONE, -1)
    if not tally["changed"]:
        return Cell("0", 0)
    text = f"{tally['changed']:,} (+{tally['gained']:,} −{tally['lost']:,})"
    return Cell(text, tally["changed"])


def status_table(inputs: ReportInputs) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the statuses that occur, and per model and format how often (pooled)."""
    table = inputs.tables["statuses"]
    table = table[table["benchmark"] == POOLED]
    formats = table["configuration"].map(lambda key: " ".join(str(key).split("|")[:2]))
    counts = table.assign(format=formats).groupby(["model", "format", "status"])["n"].sum()
    statuses = _ordered(table["status"])
    found = counts.to_dict()
    rows = []
    for model in inputs.models:
        for form in dict.fromkeys(formats):
            line = [int(found.get((model, form, status), 0)) for status in statuses]
            if sum(line):
                rows.append({"model": model, "format": form, "counts": line, "n": sum(line)})
    return statuses, rows


def _ordered(statuses: Iterable[Any]) -> list[str]:
    present = {str(status) for status in statuses}
    return sorted(present, key=lambda status: (status != "ok", status))


def null_rows(inputs: ReportInputs) -> list[dict[str, str]]:
    """Return the pooled headlines beside what models without any interaction give."""
    rows = []
    for name, band in inputs.summary.null_bands.get(POOLED, {}).items():
        low, high = _headline(name, band.low), _headline(name, band.high)
        rows.append(
            {
                "name": _HEADLINES.get(name, name.replace("_", " ")),
                "value": _headline(name, band.value),
                "twin": _headline(name, band.twin),
                "band": low if low == high else f"{low} to {high}",
            }
        )
    return rows


_HEADLINES = {
    "any_flip": "Answers (model × item) that flip with the configuration, %",
    "robust": "Answers that are right under all configurations, %",
    "optimistic": "Answers that are right under at least one, %",
    "fragile_item_share": "Items fragile for either neighbour, %",
    "fragile_share_of_gap": "Share of the gaps between neighbours on those items, %",
    "champions": "Models that lead somewhere",
    "largest_move": "Widest range of ranks of one model",
}
_COUNTS = frozenset({"champions", "largest_move"})


def _headline(name: str, value: float | None) -> str:
    if value is None:
        return _NONE
    return f"{value:.1f}".removesuffix(".0") if name in _COUNTS else percent(value)
