from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from assay.core.errors import RecordError
from assay.core.files import read_json, write_json
from assay.core.seal import DataFile
from assay.records import columns as module
from assay.records.columns import Column, Columns, columns_of, read_columns
from assay.records.schema import STATUSES, Observation, Record
from assay.records.shard import read_shard
from support.twin import write_twin


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a shard of 40 items under 26 configurations, some of them locked to one order."""
    return write_twin(tmp_path, models=1, items_per_benchmark=40, benchmarks=("arc",))[0]


def rewrite(folder: Path, change: Any) -> None:
    """Change the first record, and vouch for the file that comes of it."""
    path = folder / "records.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    change(lines[0])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    manifest = read_json(folder / "manifest.json")
    manifest["files"]["records.jsonl"] = DataFile.of(path).model_dump(mode="json")
    write_json(folder / "manifest.json", manifest)


def same(one: Columns, two: Columns) -> bool:
    plain = ("owners", "item_ids", "clusters", "subjects", "options")
    numbers = ("status", "correct", "choice", "orders", "prompt_tokens", "sums")

    def alike(first: Column, second: Column) -> bool:
        arrays = [(getattr(first, name), getattr(second, name)) for name in numbers]
        return first.texts.equals(second.texts) and all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in arrays
        )

    return (
        all(getattr(one, name) == getattr(two, name) for name in plain)
        and np.array_equal(one.gold, two.gold)
        and np.array_equal(one.accepts, two.accepts)
        and one.observations.keys() == two.observations.keys()
        and all(alike(one.observations[k], two.observations[k]) for k in one.observations)
    )


def slowly(folder: Path) -> Columns:
    shard = read_shard(folder)
    return columns_of(list(shard.records()), sorted(shard.manifest.configurations))


def test_arrow_reads_what_the_records_say(folder: Path) -> None:
    shard = read_shard(folder)
    keys = sorted(shard.manifest.configurations)
    fast = module._from_table(module._parsed(shard, keys), keys)
    assert same(fast, slowly(folder))
    records = list(shard.records())
    for key in keys:
        column, seen = fast.observations[key], [r.observations[key] for r in records]
        assert [STATUSES[code] for code in column.status] == [o.status for o in seen]
        assert column.texts.to_pylist() == [o.text for o in seen]
        pairs = zip(records, seen, strict=True)
        shown = [-1 if o.order is None else o.order.index(r.gold) for r, o in pairs]
        assert column.shown_at(fast.gold).tolist() == shown


def test_the_schema_is_that_of_the_records() -> None:
    schema = module._schema(["key"])
    assert set(schema.names) == set(Record.model_fields)
    observation = schema.field("observations").type.field("key").type
    assert {f.name for f in observation} == set(Observation.model_fields)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(gold="0"),  # pydantic takes it, Arrow does not
        lambda record: record["observations"]["ll|cloze_plain"].update(margin="0.5"),
        lambda record: record["observations"]["ll|cloze_plain"].pop("detail"),
    ],
)
def test_what_arrow_does_not_take_is_read_record_by_record(folder: Path, change: Any) -> None:
    rewrite(folder, change)
    assert same(read_columns(read_shard(folder)), slowly(folder))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda o: o.update(status="odd"), "status"),
        (lambda o: o.update(status="none", correct=True), "cannot be correct"),
        (lambda o: o.update(status="oom", correct=False), "does not go with"),
        (lambda o: o.update(surprise=1), "surprise"),
        (lambda o: o.pop("correct"), "correct"),
    ],
)
def test_what_is_no_record_is_refused_naming_the_line(folder: Path, change: Any, said: str) -> None:
    rewrite(folder, lambda record: change(record["observations"]["gen|letter_plain|p0"]))
    with pytest.raises(RecordError, match=said) as error:
        read_columns(read_shard(folder))
    assert "records.jsonl:1" in str(error.value)


def test_a_configuration_that_the_legend_lacks_is_refused(folder: Path) -> None:
    rewrite(
        folder,
        lambda record: record["observations"].update(
            new=record["observations"]["gen|letter_plain|p0"]
        ),
    )
    with pytest.raises(RecordError, match="disagree on the configurations new"):
        read_columns(read_shard(folder))


def test_long_lines_are_read_record_by_record(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = slowly(folder)
    monkeypatch.setattr(module, "_BLOCK", 512)
    with pytest.raises(pa.ArrowInvalid):
        module._parsed(read_shard(folder), sorted(expected.observations))
    assert same(read_columns(read_shard(folder)), expected)
