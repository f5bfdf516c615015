"""Read a plain long table: one row for each answer, whoever collected it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.grid.configuration import Configuration
from assay.leaderboard.assembly import configuration_of, refuse_missing, statuses_of
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, Correctness, Item
from assay.leaderboard.table_rows import Codes, Table, outcomes, read_rows

_FEWEST_OPTIONS = 2


def load_table(
    source: Path | pd.DataFrame,
    *,
    reference: str | None = None,
    options: int | None = None,
    allow_missing: bool = False,
) -> Correctness:
    """Read a table with one row for each model, item and configuration.

    Parameters
    ----------
    source : Path or DataFrame
        CSV (also compressed) or parquet. Columns: model, benchmark, item, configuration, correct
        (0, 1, true, false, or empty where no answer came back); optionally cluster, subject,
        options (the number of them) and status (`assay.records.schema.STATUSES`). Other columns
        are ignored.
    reference : str, optional
        The configuration to read the leaderboard at; needed where there is more than one.
    options : int, optional
        Options of every item, where there is no such column: what guessing gives depends on it.
    allow_missing : bool
        Accept observations that failed or have no row; they stay missing.

    Returns
    -------
    Correctness
        A configuration that no row of a benchmark mentions does not apply to it; any other cell
        without a row is missing.

    Raises
    ------
    AnalysisError
        If a column is absent or a value not understood (with its line); a cell has two rows; an
        item has two clusters, subjects or numbers of options; status and correct contradict each
        other; the reference is unknown; or something is missing and `allow_missing` is false.

    Notes
    -----
    ``gen|format|order`` and ``ll|format`` are taken apart; any other configuration becomes a
    format of its own, ``gen|name``.

    Examples
    --------
    >>> rows = [("m", "b", f"q{k}", "plain", k % 2) for k in range(4)]
    >>> table = pd.DataFrame(rows, columns=["model", "benchmark", "item", "configuration",
    ...                                     "correct"])
    >>> load_table(table, options=4).values[0, :, 0].tolist()
    [0, 1, 0, 1]
    """
    table = read_rows(source)
    axes = _Axes.of(table.rows)
    _refuse_repeated(table, axes)
    items = _items(table, axes, options)
    values, statuses = _fill(axes, items, *outcomes(table))
    ways = [configuration_of(name) for name in axes.configurations]
    order = np.argsort([way.key for way in ways], kind="stable")
    _refuse_same_key(ways, axes.configurations, table.name)
    at = _reference(reference, axes.configurations, table.name)
    correctness = Correctness(
        models=axes.models,
        items=items,
        configurations=tuple(ways[k] for k in order),
        reference=int(np.flatnonzero(order == at)[0]),
        values=values[:, :, order],
        statuses=statuses[:, :, order],
        slots=np.full(values.shape, -1, np.int8),
        gold_slots=np.full(values.shape[1:], -1, np.int8),
        labels={},
    )
    if not allow_missing:
        refuse_missing(correctness, table.name)
    return correctness


@dataclass(frozen=True)
class _Axes:
    """The levels of each axis, and where each row belongs.

    `model`, `item` and `configuration` have one entry a row; items are (benchmark, id) pairs.
    """

    models: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    configurations: tuple[str, ...]
    model: NDArray[np.intp]
    item: NDArray[np.intp]
    configuration: NDArray[np.intp]

    @classmethod
    def of(cls, rows: pd.DataFrame) -> _Axes:
        models, model = np.unique(rows["model"].to_numpy(str), return_inverse=True)
        ways, way = np.unique(rows["configuration"].to_numpy(str), return_inverse=True)
        pairs = pd.MultiIndex.from_frame(rows[["benchmark", "item"]])
        names = pairs.unique().sort_values()
        return cls(
            models=tuple(models.tolist()),
            names=tuple((str(b), str(i)) for b, i in names),
            configurations=tuple(ways.tolist()),
            model=model,
            item=names.get_indexer(pairs),
            configuration=way,
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.models), len(self.names), len(self.configurations)

    @property
    def cell(self) -> NDArray[np.intp]:
        """The flat index of each row."""
        place = (self.model, self.item, self.configuration)
        return np.asarray(np.ravel_multi_index(place, self.shape))


def _refuse_repeated(table: Table, axes: _Axes) -> None:
    repeated = pd.Series(axes.cell).duplicated()
    table.refuse(
        repeated,
        lambda row: (
            f"a second answer of {axes.models[axes.model[row]]} to item "
            f"{axes.names[axes.item[row]][1]} under "
            f"{axes.configurations[axes.configuration[row]]}."
        ),
    )


def _items(table: Table, axes: _Axes, options: int | None) -> tuple[Item, ...]:
    first = np.zeros(len(axes.names), np.intp)
    first[axes.item[::-1]] = np.arange(len(axes.item))[::-1]
    for column in ("cluster", "subject", "options"):
        if column in table.rows:
            _refuse_another(table, axes, first, column)
    one = table.rows.iloc[first]
    numbers = _options(table, first, options)
    # A cluster without a name is the item itself; ids may recur in another benchmark.
    own = [f"{benchmark}/{item}" for benchmark, item in axes.names]
    clusters = one["cluster"].tolist() if "cluster" in one else [""] * len(own)
    subjects = one["subject"].tolist() if "subject" in one else [""] * len(own)
    return tuple(
        Item(benchmark, item, named or alone, subject, number)
        for (benchmark, item), named, alone, subject, number in zip(
            axes.names, clusters, own, subjects, numbers, strict=True
        )
    )


def _refuse_another(table: Table, axes: _Axes, first: NDArray[np.intp], column: str) -> None:
    text = table.rows[column].to_numpy(object)
    table.refuse(
        pd.Series(text != text[first][axes.item]),
        lambda row: (
            f"item {axes.names[axes.item[row]][1]} has another {column} than in "
            f"{table.where(int(first[axes.item[row]]))}."
        ),
    )


def _options(table: Table, first: NDArray[np.intp], options: int | None) -> list[int]:
    if "options" not in table.rows:
        if options is None or options < _FEWEST_OPTIONS:
            raise AnalysisError(
                "how many options an item has is unknown, and so is what guessing gives.",
                where=table.name,
                fix="add a column options, or say how many every item has (at least 2).",
            )
        return [options] * len(first)
    numbers = pd.to_numeric(table.rows["options"], errors="coerce")
    table.refuse(
        ~(numbers >= _FEWEST_OPTIONS) | (numbers % 1 != 0),
        lambda row: f"options is {table.rows['options'][row]!r}, not a number of at least 2.",
    )
    return [int(number) for number in numbers.to_numpy()[first]]


def _fill(
    axes: _Axes, items: tuple[Item, ...], values: Codes, statuses: Codes
) -> tuple[Codes, Codes]:
    """Return values and statuses, shape (model, item, configuration)."""
    benchmark_of = np.unique([item.benchmark for item in items], return_inverse=True)[1]
    mentioned = np.zeros((benchmark_of.max() + 1, len(axes.configurations)), bool)
    mentioned[benchmark_of[axes.item], axes.configuration] = True
    cells = np.where(mentioned[benchmark_of], MISSING, NOT_APPLICABLE).astype(np.uint8)
    filled = np.broadcast_to(cells, axes.shape).copy()
    filled.flat[axes.cell] = values
    codes = statuses_of(filled, items)
    codes.flat[axes.cell] = statuses
    return filled, codes


def _refuse_same_key(ways: Sequence[Configuration], names: Sequence[str], where: str) -> None:
    first: dict[str, str] = {}
    for way, name in zip(ways, names, strict=True):
        if first.setdefault(way.key, name) != name:
            raise AnalysisError(
                f"the configurations {first[way.key]!r} and {name!r} are both {way.key}.",
                where=where,
                fix="name one of them differently.",
            )


def _reference(wanted: str | None, names: Sequence[str], where: str) -> int:
    if wanted is None and len(names) == 1:
        return 0
    if wanted not in names:
        what = "no reference was named" if wanted is None else f"there is no {wanted!r}"
        raise AnalysisError(
            f"{what}; the configurations are {', '.join(names)}.",
            where=where,
            fix="name the configuration that the leaderboard is read at.",
        )
    return list(names).index(str(wanted))
