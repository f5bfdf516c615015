"""Configurations in groups: the order of a figure's cells, and the names above them."""

from __future__ import annotations

from itertools import groupby

import pandas as pd

from assay.plots.names import elide
from assay.plots.rows import Sheet
from assay.plots.style import INK, SMALL
from assay.plots.tables import family, row_dicts, select

_FAMILY_GAP = 0.45  # in cells


def columns_by_family(
    accuracy: pd.DataFrame, configurations: list[str], benchmark: str
) -> tuple[list[str], list[float], list[tuple[str, float, float]]]:
    """Order the configurations by family; return them, their places and the families' spans."""
    wanted = ("configuration", "scoring", "format", "order")
    known = select(accuracy, "accuracy", wanted, benchmark=benchmark).drop_duplicates()
    known = known[known["configuration"].isin(configurations)]
    entries = [
        (family(row["scoring"], row["format"]), str(row["order"]), str(row["configuration"]))
        for row in row_dicts(known)
    ]
    seen = list(dict.fromkeys(entry[0] for entry in entries))
    entries.sort(key=lambda entry: (seen.index(entry[0]), entry[1], entry[2]))
    columns: list[str] = []
    places: list[float] = []
    families: list[tuple[str, float, float]] = []
    place = 0.0
    for name, members in groupby(entries, key=lambda entry: entry[0]):
        start = place
        for _, _, configuration in members:
            columns.append(configuration)
            places.append(place)
            place += 1
        families.append((name, start, place))
        place += _FAMILY_GAP
    return columns, places, families


def family_headings(
    sheet: Sheet, families: list[tuple[str, float, float]], *, room: float, side: float
) -> None:
    """Write each family's name above its cells; `room` and `side` are the panel's, in points."""
    panel = sheet.panels[0]
    unit = room / families[-1][2]
    for index, (name, start, end) in enumerate(families):
        last = index == len(families) - 1
        # The last heading may use the room above the range column.
        wide = (end - start) * unit + (side if last else _FAMILY_GAP * unit - 2.5)
        short = elide(name.replace("_", " "), wide, SMALL)
        panel.text(start, -2.5, short, va="bottom", ha="left", fontsize=SMALL, color=INK)
        panel.plot([start, end - 0.06], [-1.2, -1.2], color=INK, lw=0.6, clip_on=False)
