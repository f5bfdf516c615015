"""How many outcomes change when the question is put otherwise, by model and configuration."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from assay.plots.families import columns_by_family, family_headings
from assay.plots.rows import message_figure, row_sheet
from assay.plots.strips import KEY, MARK, PANEL, SIDE, draw_key, draw_strips
from assay.plots.style import paper_style
from assay.plots.tables import POOLED, by_reference, select


def flip_matrix(
    flips: pd.DataFrame,
    accuracy: pd.DataFrame,
    band: pd.DataFrame,
    *,
    benchmark: str = POOLED,
    note: str | None = None,
) -> Figure:
    """Draw, per model, the share of outcomes that differ from the reference configuration's.

    Parameters
    ----------
    flips, accuracy, band : DataFrame
        The analysis tables of these names; `accuracy` gives each configuration's scoring, format
        and order, `band` the order of the models.
    benchmark : str
        Which rows to draw; the pooled ones by default.
    note : str, optional
        A line at the bottom of the figure.

    Returns
    -------
    Figure
        A cell a configuration, darker for more flips; at the right the least and the most.
    """
    table = select(flips, "flips", ("model", "configuration", "flips"), benchmark=benchmark)
    if table["flips"].isna().all():
        return message_figure("one configuration flips nothing", note=note)
    grid = table.pivot(index="model", columns="configuration", values="flips")
    names = [name for name in by_reference(band, benchmark) if name in grid.index]
    columns, places, families = columns_by_family(accuracy, list(grid.columns), benchmark)
    values = grid.loc[names, columns].to_numpy(float)
    highest = max(0.01, float(np.nanmax(values)))
    with paper_style():
        sheet = row_sheet(names, mark_height=MARK, panels=PANEL, heading=11, scale=KEY, note=note)
        draw_strips(
            sheet,
            values,
            places,
            shade=Normalize(0, highest),
            texts=[_range(row) for row in values],
        )
        family_headings(sheet, families, room=PANEL[0][1], side=SIDE)
        draw_key(sheet, highest=highest, title="outcomes that flip", noted=note is not None)
    return sheet.figure


def _range(row: np.ndarray) -> str:
    known = 100 * row[~np.isnan(row)]
    return f"{known.min():.0f}–{known.max():.0f} %" if known.size else "–"
