"""The per-item browser's data: a list of all items, and their answers in compressed chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from assay.plots.tables import row_dicts
from assay.records.schema import Observation, Record
from assay.report.encode import pack
from assay.report.inputs import ReportInputs

#: Class of an item for a model → its letter in the list.
CLASS_LETTERS = {"robust-correct": "c", "robust-wrong": "w", "fragile": "f"}
_ABSENT = "-"


@dataclass
class ItemData:
    """What the browser is given.

    Attributes
    ----------
    entries : list of dict
        One for each item, fragile first: benchmark, ids, question, options, classes, chunk name.
    embedded, linked : dict
        Chunk name → packed answers, inside the index and in files of their own.
    """

    entries: list[dict[str, Any]] = field(default_factory=list)
    embedded: dict[str, str] = field(default_factory=dict)
    linked: dict[str, str] = field(default_factory=dict)


def item_data(inputs: ReportInputs, withheld: Mapping[str, str]) -> ItemData:
    """Return list and chunks of all items; each benchmark gets its share of the index.

    Parameters
    ----------
    withheld : mapping
        Benchmark → reason, for those whose texts are left out.
    """
    data = ItemData()
    classes = _classes(inputs)
    fragility = _fragility(inputs.tables["item_fragility"])
    share = inputs.options.item_budget // max(1, len(inputs.benchmarks))
    for number, benchmark in enumerate(inputs.benchmarks):
        items = _read_benchmark(inputs, benchmark, hidden=benchmark in withheld)
        items.sort(key=lambda item: (-fragility.get((benchmark, item.id), 0.0), item.id))
        room = share
        for name, members in _chunks(items, f"b{number:02d}", inputs.options.chunk_size):
            packed = pack({item.id: item.detail for item in members})
            room -= len(packed)
            (data.embedded if room >= 0 else data.linked)[name] = packed
            for item in members:
                key = (benchmark, item.id)
                entry = {"c": classes.get(key, ""), "f": fragility.get(key, 0.0), "k": name}
                data.entries.append({**item.entry, **entry})
    data.entries.sort(key=lambda entry: (-entry["f"], entry["b"], entry["i"]))
    return data


@dataclass
class _Item:
    id: str
    entry: dict[str, Any]
    detail: dict[str, Any]


def _read_benchmark(inputs: ReportInputs, benchmark: str, *, hidden: bool) -> list[_Item]:
    """Merge the records of all models about one benchmark's items."""
    found: dict[str, _Item] = {}
    prompts: dict[str, dict[str, int]] = {}
    for model_index, model in enumerate(inputs.models):
        shard = inputs.shards.get((model, benchmark))
        if shard is None:
            continue
        texts = {} if hidden else shard.prompts()
        for record in shard.records():
            item = found.setdefault(record.item_id, _start(record, hidden))
            seen = prompts.setdefault(record.item_id, {})
            item.detail["models"][str(model_index)] = [
                _observed(record, key, texts, seen, hidden) for key in inputs.configurations
            ]
    for item_id, item in found.items():
        item.detail["prompts"] = list(prompts[item_id])
    return list(found.values())


def _start(record: Record, hidden: bool) -> _Item:
    """Return what all models share of an item; no text of it when `hidden`."""
    entry: dict[str, Any] = {"b": record.benchmark, "i": record.item_id, "g": record.gold}
    entry |= {"n": record.native_id, "s": record.subject}
    shared: dict[str, Any] = {"accepts": record.accepts, "size": len(record.options)}
    if not hidden:
        entry |= {"q": record.question, "o": record.options}
        shared |= {"cluster": record.cluster}
    detail = {**shared, "locked": record.locked, "flags": record.flags, "models": {}}
    return _Item(record.item_id, entry, detail)


#: Fields of an observation that are, or may quote, the benchmark's text.
_TEXTUAL = frozenset({"text", "detail", "span"})


def _observed(
    record: Record,
    key: str,
    texts: Mapping[tuple[str, str], str],
    seen: dict[str, int],
    hidden: bool,
) -> dict[str, Any] | None:
    """Return one observation without its empty fields; prompts are stored once per item."""
    observation = record.observations.get(key)
    if observation is None:
        return None
    found = _filled(observation)
    if hidden:
        return {name: value for name, value in found.items() if name not in _TEXTUAL}
    prompt = texts.get((record.item_id, key))
    if prompt is not None:
        found["prompt"] = seen.setdefault(prompt, len(seen))
    return found


def _filled(observation: Observation) -> dict[str, Any]:
    dumped = observation.model_dump(exclude={"key", "prompt_sha256"})
    return {name: value for name, value in dumped.items() if value not in (None, (), "")} | (
        {} if observation.text is None else {"text": observation.text}
    )


def _chunks(items: list[_Item], prefix: str, limit: int) -> Iterator[tuple[str, list[_Item]]]:
    """Yield (name, items) with about as much text in each chunk."""
    members: list[_Item] = []
    size = number = 0
    for item in items:
        members.append(item)
        size += len(json.dumps(item.detail))
        if size >= limit:
            yield f"{prefix}-{number:04d}", members
            members, size, number = [], 0, number + 1
    if members:
        yield f"{prefix}-{number:04d}", members


def _classes(inputs: ReportInputs) -> dict[tuple[str, str], str]:
    """Return (benchmark, item id) → one letter per model, in the order of the models."""
    place = {model: index for index, model in enumerate(inputs.models)}
    letters: dict[tuple[str, str], list[str]] = {}
    for row in row_dicts(inputs.tables["items"]):
        line = letters.setdefault((row["benchmark"], row["item_id"]), [_ABSENT] * len(place))
        line[place[row["model"]]] = CLASS_LETTERS.get(row["item_class"], _ABSENT)
    return {key: "".join(line) for key, line in letters.items()}


def _fragility(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Return (benchmark, item id) → fragility; 0 where no model allows to tell."""
    return {
        (row["benchmark"], row["item_id"]): round(row["fragility"], 6)
        for row in row_dicts(table)
        if row["fragility"] == row["fragility"]
    }
