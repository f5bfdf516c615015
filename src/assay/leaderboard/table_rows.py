"""The rows of a long table: read as text, and understood line by line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, RIGHT, WRONG
from assay.records.schema import MISSING as MISSING_STATUSES
from assay.records.schema import NOT_APPLICABLE as INAPPLICABLE
from assay.records.schema import STATUSES

NEEDED = ("model", "benchmark", "item", "configuration", "correct")
OPTIONAL = ("cluster", "subject", "options", "status")
_TRUE, _FALSE = {"1", "1.0", "true"}, {"0", "0.0", "false"}
_STATUS_OF_VALUE = np.array(
    [STATUSES.index("ok"), STATUSES.index("ok"), STATUSES.index("backend_error")], np.uint8
)

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Table:
    """The rows as text (absent fields as ""), and where each of them stands."""

    rows: pd.DataFrame
    name: str
    first_line: int

    def where(self, row: int) -> str:
        """Return file:line of a row."""
        return f"{self.name}:{self.first_line + row}"

    def refuse(self, bad: pd.Series[bool], what: str | Callable[[int], str]) -> None:
        """Raise an error about the first bad row, if there is one.

        Raises
        ------
        AnalysisError
            If any row is bad.
        """
        if bad.any():
            row = int(np.argmax(bad.to_numpy()))
            text = what if isinstance(what, str) else what(row)
            raise AnalysisError(text, where=self.where(row))


def read_rows(source: Path | pd.DataFrame) -> Table:
    """Read a table and refuse rows that do not say what they are about.

    Raises
    ------
    AnalysisError
        If the file cannot be read, a column is absent, there is no row, or a name is empty.
    """
    if isinstance(source, pd.DataFrame):
        rows, name, first_line = source.reset_index(drop=True), "row", 0
    else:
        rows, name = _read_file(source), str(source)
        first_line = 0 if source.suffix == ".parquet" else 2
    lacking = [column for column in NEEDED if column not in rows]
    if lacking:
        raise AnalysisError(
            f"there is no column {', '.join(lacking)}.",
            where=name,
            fix=f"name the columns {', '.join(NEEDED)}; optional are {', '.join(OPTIONAL)}.",
        )
    if not len(rows):
        raise AnalysisError("the table has no rows.", where=name)
    kept = [column for column in (*NEEDED, *OPTIONAL) if column in rows]
    table = Table(pd.DataFrame({c: _text(rows[c]) for c in kept}), name, first_line)
    for column in NEEDED[:4]:
        table.refuse(table.rows[column] == "", f"there is no {column}.")
    return table


def _read_file(source: Path) -> pd.DataFrame:
    try:
        if source.suffix == ".parquet":
            return pd.read_parquet(source)
        # Blank lines are kept, so that the n-th row is in line n + 1.
        return pd.read_csv(
            source, dtype=str, keep_default_na=False, skip_blank_lines=False, encoding="utf-8"
        )
    except (ValueError, OSError, EOFError) as error:
        # pandas, pyarrow and the decompressors say in their own ways that this is no table.
        raise AnalysisError(
            f"this is no table: {str(error).strip().splitlines()[0]}.",
            where=source,
            fix="give CSV in UTF-8 (also compressed) or parquet.",
        ) from error


def _text(column: pd.Series[Any]) -> pd.Series[str]:
    text = column.astype(object).where(column.notna(), "")
    return text.astype(str).str.strip()


def outcomes(table: Table) -> tuple[Codes, Codes]:
    """Return the value and the status of each row, as codes of `Correctness`.

    Raises
    ------
    AnalysisError
        If one is not understood, or they contradict each other.
    """
    text = table.rows["correct"].str.lower()
    known, right = text.isin([*_TRUE, *_FALSE]), text.isin([*_TRUE])
    table.refuse(
        ~known & (text != ""),
        lambda row: f"correct is {table.rows['correct'][row]!r}, not 0, 1 or empty.",
    )
    values = np.where(known, np.where(right, RIGHT, WRONG), MISSING).astype(np.uint8)
    if "status" not in table.rows:
        return values, _STATUS_OF_VALUE[values]
    unsaid = pd.Series(np.where(known, "ok", "backend_error"))
    status = table.rows["status"].where(table.rows["status"] != "", unsaid)
    table.refuse(
        ~status.isin(STATUSES),
        lambda row: f"status {status[row]!r} is unknown; it is one of {', '.join(STATUSES)}.",
    )
    unanswered = status.isin([*MISSING_STATUSES, INAPPLICABLE])
    table.refuse(
        (right & (status != "ok")) | (unanswered & known) | (~unanswered & ~known),
        lambda row: (
            f"status {status[row]} does not go with correct = {table.rows['correct'][row]!r}."
        ),
    )
    values[(status == INAPPLICABLE).to_numpy()] = NOT_APPLICABLE
    codes = status.map({name: code for code, name in enumerate(STATUSES)})
    return values, np.asarray(codes.to_numpy(), np.uint8)
