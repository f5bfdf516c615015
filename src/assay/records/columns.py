"""A shard's records as columns: what an analysis reads of millions of observations.

Arrow parses the JSON lines, several times as fast as Python would build their objects. What it
does not understand, or understands in a way that `Record` would not, is read record by record
instead, which ends in the same columns or in an error that names the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
from numpy.typing import NDArray

from assay.core.errors import RecordError
from assay.records.schema import MISSING, NOT_APPLICABLE, STATUSES, Record
from assay.records.shard import RECORDS, Shard

_UNANSWERED = np.array([status in MISSING or status == NOT_APPLICABLE for status in STATUSES])
_OK = STATUSES.index("ok")
#: Bytes that Arrow parses at once; a line must fit.
_BLOCK = 1 << 24


@dataclass(frozen=True)
class Column:
    """What came of one configuration; every array has one row an item.

    Attributes
    ----------
    status : ndarray of uint8
        Index into `STATUSES`.
    correct : ndarray of int8
        1 or 0; -1 where the observation is missing or not applicable.
    choice : ndarray of int64
        The chosen option; -1 for none.
    orders : ndarray of int64, shape (item, position)
        The option shown at each position; -1 beyond the last and where no options were shown.
    texts : Array of text
        What was generated; null where nothing was.
    prompt_tokens : ndarray of int64
        -1 where they were not counted.
    sums : ndarray of float, shape (item, option)
        Summed log-probabilities of the options; NaN where there is none.
    """

    status: NDArray[np.uint8]
    correct: NDArray[np.int8]
    choice: NDArray[np.int64]
    orders: NDArray[np.int64]
    texts: pa.Array
    prompt_tokens: NDArray[np.int64]
    sums: NDArray[np.float64]

    def shown_at(self, option: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position of each item's `option`; -1 where it was not shown, or is -1."""
        found = (self.orders == option[:, None]) & (option >= 0)[:, None]
        return np.where(found.any(axis=1), found.argmax(axis=1) if found.size else -1, -1)


@dataclass(frozen=True)
class Columns:
    """The records of one shard, in order of item id.

    Attributes
    ----------
    owners : list of tuple
        (model, benchmark) that each record names.
    item_ids, clusters, subjects : list of str
    options : list of tuple of str
        In source order.
    gold : ndarray of int64, shape (item,)
    accepts : ndarray of bool, shape (item, option)
    observations : dict of str to Column
        By the key of the configuration.
    """

    owners: list[tuple[str, str]]
    item_ids: list[str]
    clusters: list[str]
    subjects: list[str]
    options: list[tuple[str, ...]]
    gold: NDArray[np.int64]
    accepts: NDArray[np.bool_]
    observations: dict[str, Column]


class _OddError(ValueError):
    """Arrow's reading would not be `Record`'s."""


def read_columns(shard: Shard) -> Columns:
    """Read a verified shard.

    Raises
    ------
    RecordError
        If a line is not a record, or one has other configurations than the manifest's legend.
    """
    keys = sorted(shard.manifest.configurations)
    try:
        return _from_table(_parsed(shard, keys), keys)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, _OddError):
        records = list(shard.records())
    for record in records:
        strange = set(record.observations) ^ set(keys)
        if strange:
            raise RecordError(
                f"item {record.item_id}: the record and the manifest's legend disagree on the "
                f"configurations {', '.join(sorted(strange))}.",
                where=shard.folder,
            )
    return columns_of(records, keys)


def columns_of(records: Sequence[Record], keys: Sequence[str]) -> Columns:
    """Return the columns of records that all have the configurations `keys`."""
    rows = [record.model_dump() for record in records]
    return _from_table(pa.Table.from_pylist(rows, schema=_schema(keys)), keys)


def _parsed(shard: Shard, keys: Sequence[str]) -> pa.Table:
    path = shard.folder / RECORDS
    table = pyarrow.json.read_json(
        path,
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=_BLOCK),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=_schema(keys), unexpected_field_behavior="error"
        ),
    )
    if table.num_rows != shard.manifest.rows:
        raise _OddError
    return table


def _schema(keys: Sequence[str]) -> pa.Schema:
    """Return what a record with these configurations looks like to Arrow."""
    text, whole, real = pa.string(), pa.int64(), pa.float64()
    texts, wholes, reals = pa.list_(text), pa.list_(whole), pa.list_(real)
    observation = pa.struct(
        {
            "key": text,
            "status": text,
            "correct": pa.bool_(),
            "choice": whole,
            "order": wholes,
            "prompt_sha256": text,
            "prompt_tokens": whole,
            "label": text,
            "rule": text,
            "span": wholes,
            "text": text,
            "finish": text,
            "new_tokens": whole,
            "scores": pa.struct({"sum": reals, "token": reals, "byte": reals, "pmi": reals}),
            "margin": real,
            "tied": wholes,
            "credit": real,
            "flags": texts,
            "detail": text,
        }.items()
    )
    return pa.schema(
        {
            "benchmark": text,
            "model": text,
            "item_id": text,
            "native_id": text,
            "question": text,
            "options": texts,
            "gold": whole,
            "accepts": wholes,
            "subject": text,
            "cluster": text,
            "locked": pa.bool_(),
            "flags": texts,
            "observations": pa.struct([(key, observation) for key in keys]),
        }
    )


def _from_table(table: pa.Table, keys: Sequence[str]) -> Columns:
    table = table.combine_chunks()
    if any(column.null_count for column in table.columns):
        raise _OddError
    observations = _one(table["observations"])
    options = [tuple(row) for row in table["options"].to_pylist()]
    width = max(map(len, options), default=0)
    accepted = _padded(_one(table["accepts"]))
    return Columns(
        owners=list(zip(table["model"].to_pylist(), table["benchmark"].to_pylist(), strict=True)),
        item_ids=table["item_id"].to_pylist(),
        clusters=table["cluster"].to_pylist(),
        subjects=table["subject"].to_pylist(),
        options=options,
        gold=_whole(_one(table["gold"])),
        accepts=(accepted[:, :, None] == np.arange(width)).any(axis=1),
        observations={key: _column(observations.field(key)) for key in keys},
    )


def _column(seen: pa.StructArray) -> Column:
    status = pc.index_in(seen.field("status"), pa.array(STATUSES))
    if seen.null_count or status.null_count:
        raise _OddError
    codes = status.to_numpy(zero_copy_only=False).astype(np.uint8)
    correct = _whole(seen.field("correct").cast(pa.int64())).astype(np.int8)
    if ((correct < 0) != _UNANSWERED[codes]).any() or ((correct == 1) & (codes != _OK)).any():
        raise _OddError
    return Column(
        status=codes,
        correct=correct,
        choice=_whole(seen.field("choice")),
        orders=_padded(seen.field("order")),
        texts=seen.field("text"),
        prompt_tokens=_whole(seen.field("prompt_tokens")),
        sums=_padded(seen.field("scores").field("sum"), np.nan),
    )


def _one(column: pa.ChunkedArray) -> pa.Array:
    """Return a column of a table without pieces as an array; a table without rows has none."""
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _whole(values: pa.Array) -> NDArray[np.int64]:
    """Return whole numbers, -1 for null."""
    return np.asarray(values.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def _padded(lists: pa.ListArray, fill: float = -1) -> NDArray[Any]:
    """Return lists of numbers as rows of one length, filled up with `fill`; null is an empty row.

    A null in a list becomes NaN among reals.
    """
    lengths = _whole(pc.list_value_length(lists)).clip(min=0)
    width = int(lengths.max(initial=0))
    values = pc.list_flatten(lists).to_numpy(zero_copy_only=False)
    rows = np.full((len(lists), width), fill)
    rows[np.arange(width) < lengths[:, None]] = values
    return rows if np.isnan(fill) else rows.astype(np.int64)
