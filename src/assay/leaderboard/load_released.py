"""Read the released records: one JSONL file for each model and benchmark, and a legend.

The layout of "There Is No Neutral Harness" (arXiv 2608.21382)::

    config_legend.json                  {"_meta": {"ref_config": KEY}, KEY: {...}, ...}
    records/<benchmark>__<model>.jsonl  one line an item, with `bits`: KEY -> 0 or 1

An entry of the legend has `key`, `scoring`, `fmt`, `perm_index` and `perm`, where `perm[p]` is
the option shown at position p. A bit that is not there is missing; it is not a wrong answer.

A line may say more than the release does, as `assay.export` writes it: `options` (the number of
them), `cluster`, `subject`, and `not_applicable` (configurations that make no sense for the item).

The records say how many generations could not be read (`n_gen_unparsed`), but not which ones, nor
which label was chosen. So every bit has the status ok, compliance cannot be computed from them,
and there is no position preference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from assay.core.errors import AnalysisError
from assay.grid.configuration import Configuration
from assay.leaderboard.assembly import configuration_of, refuse_missing, statuses_of
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, Correctness, Item

LEGEND, RECORDS = "config_legend.json", "records"
_NEEDED = ("benchmark", "model", "item_id", "gold", "bits")
#: Options of an item where the legend shows none.
_OPTIONS = 4

#: Benchmark and item id.
_Key = tuple[str, str]
#: What is said of an item in every model's file: its question and gold, and what goes with them.
_SHARED = ("question", "gold", "options", "cluster", "subject")


@dataclass(frozen=True)
class _Legend:
    """The configurations, sorted by key, and the order in which each shows the options."""

    reference: str
    configurations: tuple[Configuration, ...]
    orders: tuple[tuple[int, ...] | None, ...]

    @property
    def keys(self) -> list[str]:
        return [way.key for way in self.configurations]

    @property
    def options(self) -> int:
        return max((len(order) for order in self.orders if order), default=_OPTIONS)


@dataclass(frozen=True)
class _Line:
    """One item of one model; `identity` must be the same for every model."""

    item: Item
    identity: tuple[Any, ...]
    gold: int
    bits: list[int]
    where: str

    @property
    def key(self) -> _Key:
        return self.item.benchmark, self.item.item_id


def load_released(folder: Path, *, allow_missing: bool = False) -> Correctness:
    """Read a folder in the layout of the released records.

    Parameters
    ----------
    folder : Path
        Holds `records` and, beside or in it, `config_legend.json`.
    allow_missing : bool
        Accept absent files and absent bits; they stay missing.

    Raises
    ------
    AnalysisError
        If a file is absent or malformed (with its line); a bit is neither 0 nor 1, or belongs to
        a configuration that the legend does not have; a file's name and lines disagree; an item
        occurs twice, or with another question or gold in another model's file; or something is
        missing and `allow_missing` is false.
    """
    legend = _read_legend(folder)
    files = sorted((folder / RECORDS).glob("*.jsonl"))
    if not files:
        raise AnalysisError(
            "there are no records.",
            where=folder / RECORDS,
            fix="put one file <benchmark>__<model>.jsonl there for each model and benchmark.",
        )
    read = {_cell(path): list(_read_lines(path, legend)) for path in files}
    correctness = _assemble(read, _common_items(read), legend)
    if not allow_missing:
        refuse_missing(correctness, folder)
    return correctness


def _read_legend(folder: Path) -> _Legend:
    places = [folder / LEGEND, folder / RECORDS / LEGEND]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise AnalysisError(f"there is no {LEGEND}.", where=folder)
    entries = _parse(path.read_bytes(), str(path))
    meta = entries.pop("_meta", None)
    reference = meta.get("ref_config") if isinstance(meta, dict) else None
    if reference not in entries:
        raise AnalysisError(
            f"_meta.ref_config is {reference!r}, which is no entry of the legend.", where=path
        )
    orders = []
    for key in sorted(entries):
        entry = entries[key]
        if not isinstance(entry, dict) or entry.get("key", key) != key:
            raise AnalysisError(f"the entry {key} is not one of that key.", where=path)
        if configuration_of(key).key != key:
            raise AnalysisError(
                f"{key} is neither gen|format|order nor ll|format|order.", where=path
            )
        orders.append(_order(entry.get("perm"), key, path))
    return _Legend(str(reference), tuple(configuration_of(k) for k in sorted(entries)), (*orders,))


def _order(perm: Any, key: str, path: Path) -> tuple[int, ...] | None:
    # A likelihood shows no options; the release may still list the order that it read them in.
    if not perm or configuration_of(key).order is None:
        return None
    if not isinstance(perm, list) or sorted(perm) != list(range(len(perm))):
        raise AnalysisError(f"perm of {key} is not a permutation: {perm}.", where=path)
    return tuple(perm)


def _parse(text: bytes, where: str) -> dict[str, Any]:
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise AnalysisError(f"this is not JSON ({error}).", where=where) from error
    if not isinstance(parsed, dict):
        raise AnalysisError("this is not a JSON object.", where=where)
    return parsed


def _cell(path: Path) -> tuple[str, str]:
    """Return (model, benchmark) from a file's name."""
    benchmark, separator, model = path.stem.partition("__")
    if not (benchmark and separator and model):
        raise AnalysisError("the name is not <benchmark>__<model>.jsonl.", where=path)
    return model, benchmark


def _read_lines(path: Path, legend: _Legend) -> Iterator[_Line]:
    model, benchmark = _cell(path)
    known: dict[_Key, str] = {}
    for number, text in enumerate(path.read_bytes().splitlines(), start=1):
        where = f"{path}:{number}"
        row = _parse(text, where)
        lacking = [name for name in _NEEDED if name not in row]
        if lacking:
            raise AnalysisError(f"there is no {', '.join(lacking)}.", where=where)
        if (row["model"], row["benchmark"]) != (model, benchmark):
            raise AnalysisError(
                f"the line is of {row['model']} on {row['benchmark']}, the file's name says "
                f"{model} on {benchmark}.",
                where=where,
            )
        item = _item(row, legend, where)
        key = item.benchmark, item.item_id
        if key in known:
            raise AnalysisError(f"item {key[1]} was already in {known[key]}.", where=where)
        known[key] = where
        gold = _gold(row["gold"], item.options, where)
        bits = _bits(row, legend.keys, where)
        identity = tuple(row.get(name) for name in _SHARED)
        yield _Line(item, identity, gold, bits, where)


def _item(row: dict[str, Any], legend: _Legend, where: str) -> Item:
    benchmark, name = str(row["benchmark"]), str(row["item_id"])
    options = row.get("options", legend.options)
    if type(options) is not int or options < 2:
        raise AnalysisError(f"options is {options!r}, not a number of at least 2.", where=where)
    # One cluster for each item: ids that count rows recur in other benchmarks.
    cluster = str(row.get("cluster", f"{benchmark}/{name}"))
    return Item(benchmark, name, cluster, str(row.get("subject", "")), options)


def _gold(gold: Any, options: int, where: str) -> int:
    if type(gold) is not int or not 0 <= gold < options:
        raise AnalysisError(
            f"gold is {gold!r}; it is the index of one of {options} options.", where=where
        )
    return gold


def _bits(row: dict[str, Any], keys: list[str], where: str) -> list[int]:
    bits, senseless = row["bits"], row.get("not_applicable", [])
    if not isinstance(bits, dict):
        raise AnalysisError("bits is not an object of configuration to 0 or 1.", where=where)
    if not isinstance(senseless, list) or set(senseless) & set(bits):
        raise AnalysisError(
            "not_applicable is not a list of configurations without a bit.", where=where
        )
    strange = sorted({*bits, *senseless} - set(keys))
    if strange:
        raise AnalysisError(
            f"the legend does not have the configurations {', '.join(strange)}.", where=where
        )
    for key, value in bits.items():
        if value is not None and value not in (0, 1):
            raise AnalysisError(f"the bit of {key} is {value!r}, not 0 or 1.", where=where)
    absent = {key: NOT_APPLICABLE for key in senseless}
    values = [bits.get(key) for key in keys]
    return [
        absent.get(key, MISSING) if value is None else int(value)
        for key, value in zip(keys, values, strict=True)
    ]


def _common_items(read: dict[tuple[str, str], list[_Line]]) -> dict[_Key, _Line]:
    """Return a line of every item, once all models' files agree on what it is."""
    first: dict[_Key, _Line] = {}
    for line in (line for lines in read.values() for line in lines):
        base = first.setdefault(line.key, line)
        if base.identity != line.identity:
            raise AnalysisError(
                f"item {line.key[1]} has another question or gold than in {base.where}.",
                where=line.where,
                fix="compare models on the same items: an id that counts rows is not enough.",
            )
    return dict(sorted(first.items()))


def _assemble(
    read: dict[tuple[str, str], list[_Line]], common: dict[_Key, _Line], legend: _Legend
) -> Correctness:
    models = sorted({model for model, _ in read})
    place = {key: k for k, key in enumerate(common)}
    items = tuple(line.item for line in common.values())
    values = np.full((len(models), len(items), len(legend.keys)), MISSING, np.uint8)
    for (model, _), lines in read.items():
        for line in lines:
            values[models.index(model), place[line.key]] = line.bits
    return Correctness(
        models=tuple(models),
        items=items,
        configurations=legend.configurations,
        reference=legend.keys.index(legend.reference),
        values=values,
        statuses=statuses_of(values, items),
        slots=np.full(values.shape, -1, np.int8),
        gold_slots=np.array([_gold_slots(line, legend) for line in common.values()], np.int8),
        labels={},
    )


def _gold_slots(line: _Line, legend: _Legend) -> list[int]:
    """Return where the gold option stood; -1 where none was shown, or in an unknown order."""
    return [
        order.index(line.gold)
        if order and len(order) == line.item.options and bit != NOT_APPLICABLE
        else -1
        for order, bit in zip(legend.orders, line.bits, strict=True)
    ]
