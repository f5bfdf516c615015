"""Arms: which records belong, what they are called, and how attempts add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AssayError, EvaluationError
from assay.core.validation import validated
from assay.evaluation.arms import Runs, read_runs
from assay.evaluation.manifest import CycleManifest, Filters
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.select import select
from support.evaluation import attempts, write_records


def record(task: str = "t", **fields: Any) -> EvaluationRecord:
    return EvaluationRecord(task_id=task, **fields)


def chosen(records: list[EvaluationRecord], *filters: Filters) -> list[EvaluationRecord]:
    return list(select(records, filters or (Filters(),), name="arm", where="x.jsonl"))


def manifest(**value: Any) -> CycleManifest:
    whole = {"cycleId": "c", "baseline": {"records": "a.jsonl"}} | value
    return validated(CycleManifest, whole, where="m")


def read(value: CycleManifest, folder: Path) -> Runs:
    return read_runs(value, folder, folder / "read.jsonl")


def test_records_take_the_arm_s_name() -> None:
    assert {one.variant for one in chosen([record(variant="x"), record("u", variant="y")])} == {
        "arm"
    }


def test_two_first_attempts_are_two_attempts() -> None:
    given = [record(), record(), record(attempt=2), record("u"), record(attempt=7)]
    assert [(one.task_id, one.attempt) for one in chosen(given)] == [
        ("t", 1),
        ("t", 2),
        ("t", 3),
        ("u", 1),
        ("t", 7),
    ]


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        (Filters(variants=("a*",)), [0, 1]),
        (Filters(tasks=("t2", "t9")), [2]),
        (Filters(areas=("web",)), [1, 2]),
        (Filters(tags=("se?rch",)), [0, 2]),
        (Filters(variants=("a*",), areas=("web",)), [1]),
    ],
)
def test_a_record_belongs_where_it_matches_every_list(filters: Filters, left: list[int]) -> None:
    given = [
        record("t0", variant="a1", capability_tags=("search",)),
        record("t1", variant="a2", task_area="web"),
        record("t2", variant="b", task_area="web", capability_tags=("edit", "search")),
    ]
    assert [one.task_id for one in chosen(given, filters)] == [f"t{n}" for n in left]


def test_the_most_attempts_of_a_task_are_counted_after_the_choice() -> None:
    given = [record(variant="b"), record(variant="a"), record(variant="a"), record(variant="a")]
    left = chosen(given, Filters(variants=("a",), attempts=2))
    assert [one.attempt for one in left] == [1, 2]


def test_filters_that_leave_nothing_name_the_variants_at_hand() -> None:
    with pytest.raises(EvaluationError, match=r"variants at hand: x, y"):
        chosen([record(variant="y"), record(variant="x")], Filters(variants=("z",)))
    with pytest.raises(EvaluationError, match="areas at hand: a"):
        chosen([record(task_area="a")], Filters(areas=("z",)))
    with pytest.raises(EvaluationError, match="has no record"):
        chosen([])


def test_a_run_is_read_once_and_its_parts_are_arms(tmp_path: Path) -> None:
    old = attempts({"a": 0.5}, tasks=3, variant="old")
    write_records(tmp_path / "a.jsonl", [*old, *attempts({"a": 0.5}, tasks=3, variant="new")])
    parts = {"filters": {"variants": ["new"]}, "replaces": {"variants": ["old"]}}
    runs = read(manifest(experiments=[parts]), tmp_path)
    assert runs.path.read_text().count('"facts"') == 1
    assert len(list(runs.arm("baseline"))) == 12
    assert [r.task_id for r in runs.arm("replaced.0")] == [r.task_id for r in old]
    assert {one.variant for one in runs.arm("experiments.0")} == {"candidate"}
    assert {one.variant for one in runs.variants()} == {"old", "new"}
    assert [one.arm for one in runs.inputs] == ["baseline", "experiments.0"]
    assert len({one.sha256 for one in runs.inputs}) == 1


def test_what_is_handed_on_is_what_was_read(tmp_path: Path) -> None:
    first, second = attempts({"a": 0.5}, tasks=3), attempts({"a": 0.5}, tasks=2, seed=4)
    write_records(tmp_path / "a.jsonl", first)
    write_records(tmp_path / "b.jsonl", second)
    runs = read(manifest(experiments=[{"records": "b.jsonl"}]), tmp_path)
    again = Runs(runs.manifest, runs.path)
    assert list(again.arm("baseline")) == first
    named = [one.model_copy(update={"variant": "candidate"}) for one in second]
    assert list(again.arm("experiments.0")) == named
    assert [one.records for one in again.inputs] == [6, 4]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"baseline": {"records": "a.jsonl", "count": 9}}, "has 6 records, the manifest says 9"),
        ({"baseline": {"records": "missing.jsonl"}}, "missing.jsonl"),
        ({"taxonomy": "missing.json"}, "missing.json"),
        ({"baseline": {"records": "a.jsonl", "adapter": "harbour"}}, "harbor"),
        ({"baseline": {"records": "a.jsonl", "options": {"treshold": 1}}}, "threshold"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, value: dict[str, Any], message: str) -> None:
    write_records(tmp_path / "a.jsonl", attempts({"a": 0.5}, tasks=3))
    with pytest.raises(AssayError, match=message):
        read(manifest(**value), tmp_path)


def test_several_jobs_add_up(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_records(tmp_path / f"{name}.jsonl", attempts({"a": 0.5}, tasks=3, repeats=1))
    value = {"baseline": {"job": ["a.jsonl", "b.jsonl"], "adapter": "records"}}
    runs = read(manifest(**value), tmp_path)
    assert isinstance(runs, Runs)
    assert sorted((one.task_id, one.attempt) for one in runs.arm("baseline")) == [
        (f"a-{n}", attempt) for n in range(3) for attempt in (1, 2)
    ]
