"""Read the analysis tables that figures are drawn from, and say clearly what they lack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from assay.core.errors import AnalysisError

#: The pooled rows of every table.
POOLED = "all"


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """Return the table `name` of an analysis, from ``{folder}/{name}.parquet``.

    Raises
    ------
    AnalysisError
        If there is no such file.
    """
    path = folder / f"{name}.parquet"
    if not path.is_file():
        raise AnalysisError(
            "the table is missing.", where=path, fix="run the leaderboard analysis first."
        )
    return pd.read_parquet(path)


def select(
    table: pd.DataFrame, name: str, columns: Sequence[str], *, benchmark: str | None = None
) -> pd.DataFrame:
    """Return a copy of `table` with `columns` only, and only one benchmark's rows if asked.

    Raises
    ------
    AnalysisError
        If a column is missing, or the benchmark has no rows although the table has some.
    """
    lacking = [column for column in columns if column not in table.columns]
    if lacking:
        raise AnalysisError(
            f"the table has no column {', '.join(lacking)}.",
            where=name,
            fix="draw the figure from the tables of the same version's analysis.",
        )
    chosen = table.loc[:, list(columns)]
    if benchmark is not None and len(table):
        chosen = chosen[table["benchmark"] == benchmark]
        if chosen.empty:
            known = ", ".join(sorted(map(str, table["benchmark"].unique())))
            raise AnalysisError(
                f"no rows for benchmark '{benchmark}'.", where=name, fix=f"choose one of: {known}."
            )
    return chosen.reset_index(drop=True)


def row_dicts(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of `table` as one mapping each."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.to_numpy(dtype=object)]


def by_reference(band: pd.DataFrame, benchmark: str) -> list[str]:
    """Return the models of a band table, best reference accuracy first, equals by name."""
    rows = select(band, "band", ["model", "reference"], benchmark=benchmark)
    rows = rows.sort_values(["reference", "model"], ascending=[False, True])
    return [str(model) for model in rows["model"]]


def family(scoring: str, form: str) -> str:
    """Return the declared family of a configuration: a label format, cloze or pmi.

    Examples
    --------
    >>> family("gen", "digit_labels"), family("ll", "cloze_question")
    ('digit_labels', 'cloze')
    """
    if scoring == "gen":
        return form
    stems = (name for name in ("cloze", "pmi") if form.startswith(name))
    return next(stems, f"{scoring} {form}")
