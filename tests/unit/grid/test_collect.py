from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.benchmarks.item import Item
from assay.config.registry import load_grid
from assay.core.errors import ModelError
from assay.core.model import Batch, Model, Outcome
from assay.grid.collect import collect
from assay.grid.configuration import Grid
from assay.grid.job import Job
from assay.models.backends.hf_local import HFLocal
from assay.models.render import Renderer
from assay.records.schema import Record
from assay.records.shard import read_shard
from support.embedded import ITEMS, embedded, item
from support.workspace import TINY_GRID

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def files(project: Path, assay_cache: Path) -> Any:
    return embedded(project, assay_cache)


@pytest.fixture(scope="module")
def renderer(files: Any) -> Renderer:
    spec, found = files
    return Renderer(found.folder, spec)


@pytest.fixture(scope="module")
def model(files: Any) -> HFLocal:
    spec, found = files
    return HFLocal.load(found.folder, spec, dtype="float32", device="cpu", threads=1)


@pytest.fixture
def job(files: Any) -> Callable[..., Job]:
    spec, found = files

    def build(items: Sequence[Item] = ITEMS, **changes: Any) -> Job:
        values: dict[str, Any] = {
            "spec": spec,
            "benchmark": "own",
            "items": items,
            "grid": Grid.model_validate_json(json.dumps(TINY_GRID)),
            "max_new_tokens": 4,
            "token_budget": 256,
            "origin": {"model": dict(found.digests), "dtype": "float32"},
            "facts": {"snapshot_sha256": "0" * 64, "provenance": {}},
        }
        return Job(**values | changes)

    return build


class Faulty:
    """The real model with a fault laid over some of its answers."""

    def __init__(self, model: Model, spoil: Callable[[list[Outcome]], list[Outcome]]):
        self.model, self.spoil = model, spoil
        self.capabilities = model.capabilities
        self.stats = model.stats
        self.batches = 0

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        self.batches += 1
        return self.spoil(list(self.model.execute(batch, max_new_tokens=max_new_tokens)))


def records(folder: Path) -> list[Record]:
    return list(read_shard(folder).records())


def never() -> Model:
    raise AssertionError("the model was loaded though nothing had to be asked")


def test_every_item_under_every_configuration(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path, project: Path
) -> None:
    released = load_grid(project / "config", "released")
    manifest = collect(job(grid=released), tmp_path, renderer, lambda: model)
    assert manifest.rows == 3
    assert all(len(record.observations) == 26 for record in records(tmp_path))
    four, three, two = (
        next(r for r in records(tmp_path) if r.native_id == f"q{n}") for n in range(3)
    )
    skipped = [key for key, o in two.observations.items() if o.status == "not_applicable"]
    assert len(skipped) == 4 * 4, "two options have two orders"
    assert not any(o.status == "not_applicable" for o in three.observations.values())
    for record in (four, three, two):
        for key, seen in record.observations.items():
            if seen.choice is not None:
                assert seen.correct == (seen.choice == record.gold)
            if key.startswith("gen") and seen.label is not None:
                assert seen.order is not None
                slot = "ABCD".find(seen.label) if seen.label.isalpha() else int(seen.label) - 1
                assert seen.choice == seen.order[slot]
    prompts = read_shard(tmp_path).prompts()
    assert (
        "Question: What is the capital of France?\nA. Rome\nB. Berlin"
        in (prompts[four.item_id, "gen|letter_plain|p1"])
    )


def test_golden_scores_and_answers(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    # A change here means PROTOCOL_VERSION must be raised: the same question has another answer.
    collect(job(ITEMS[:1], max_new_tokens=8), tmp_path, renderer, lambda: model)
    (record,) = records(tmp_path)
    cloze = record.observations["ll|cloze"].scores
    assert cloze is not None
    assert cloze.sum == pytest.approx((-7.6451, -10.9564, -14.3410, -16.5216), abs=1e-3)
    shown = {key: o.text for key, o in record.observations.items() if o.text is not None}
    assert shown == {
        "gen|letter_plain|p0": "B. Rome",
        "gen|letter_plain|p1": "B. Berlin",
        "gen|digit_labels|p0": "1. Paris\n2. Rome\n",
        "gen|digit_labels|p1": "1. Rome\n2. Berlin\n",
    }


def test_a_finished_shard_loads_no_model(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    collect(job(), tmp_path, renderer, lambda: model)
    before = (tmp_path / "records.jsonl").read_bytes()
    (tmp_path / "records.jsonl").unlink()
    manifest = collect(job(), tmp_path, renderer, never)
    assert (tmp_path / "records.jsonl").read_bytes() == before
    assert manifest.run["observations_asked"] == 0


def test_only_a_new_item_is_asked(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    collect(job(ITEMS[:2]), tmp_path, renderer, lambda: model)
    manifest = collect(job(ITEMS), tmp_path, renderer, lambda: model)
    assert manifest.run["observations_reused"] == 2 * 5
    assert manifest.rows == 3


def test_memory_running_out_fails_the_run_and_loses_nothing(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    def spoil(outcomes: list[Outcome]) -> list[Outcome]:
        first, *rest = outcomes
        return [Outcome(first.id, "oom", detail="no memory"), *rest]

    faulty = Faulty(model, spoil)
    with pytest.raises(ModelError, match=r"observations are missing.*q?") as caught:
        collect(job(), tmp_path / "a", renderer, lambda: faulty)
    assert "run again with more memory" in str(caught.value)
    assert not (tmp_path / "a" / "manifest.json").exists()
    manifest = collect(job(), tmp_path / "a", renderer, lambda: model)
    assert manifest.run["observations_reused"] > 0
    collect(job(), tmp_path / "b", renderer, lambda: model)
    for name in ("records.jsonl", "prompts.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_what_got_no_answer_may_be_kept_as_missing_and_is_asked_again(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    faulty = Faulty(model, lambda out: [Outcome(out[0].id, "oom", detail="no memory"), *out[1:]])
    manifest = collect(job(), tmp_path, renderer, lambda: faulty, keep_missing=True)
    failed = sum(counts.get("oom", 0) for counts in manifest.statuses.values())
    seen = [o for record in records(tmp_path) for o in record.observations.values()]
    lost = [o for o in seen if o.status == "oom"]
    assert len(lost) == failed > 0
    assert all(o.correct is None and o.detail == "no memory" for o in lost)
    again = collect(job(), tmp_path, renderer, lambda: model)
    assert again.run["observations_asked"] >= failed
    assert not any("oom" in counts for counts in again.statuses.values())


def test_death_in_any_batch_costs_that_batch_and_changes_no_byte(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    """Rows of several tries decode together: what is already known must not regroup them."""

    class Death(BaseException):
        """Nothing of the collector catches it."""

    asked: list[Batch] = []

    class Mortal(Faulty):
        def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
            asked.append(batch)
            if len(asked) == last:
                raise Death
            return super().execute(batch, max_new_tokens=max_new_tokens)

    last = 0
    short = job(token_budget=96)
    collect(short, tmp_path / "whole", renderer, lambda: Mortal(model, list))
    planned = list(asked)
    assert [len(batch.groups) for batch in planned] == [5, 1, 1]
    for death in (1, 2, 3):
        last = death
        asked.clear()
        folder = tmp_path / f"died in {death}"
        with pytest.raises(Death):
            collect(short, folder, renderer, lambda: Mortal(model, list))
        before = list(asked)
        asked.clear()
        last = 0
        collect(short, folder, renderer, lambda: Mortal(model, list))
        assert [*before[:-1], *asked] == planned
        for name in ("records.jsonl", "prompts.parquet"):
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_times_of_earlier_executions_are_kept(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    first = collect(job(), tmp_path, renderer, lambda: model)
    (tmp_path / "manifest.json").unlink()
    for _ in range(2):
        again = collect(job(), tmp_path, renderer, never)
    (earlier,) = again.run["earlier"]
    assert earlier["observations_asked"] == first.run["observations_asked"] > 0
    assert earlier["seconds"]["forward"] > 0


@pytest.mark.parametrize("fault", ["missing", "twice"])
def test_an_answer_that_is_missing_or_doubled_is_never_passed_over(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path, fault: str
) -> None:
    faulty = Faulty(model, lambda out: out[1:] if fault == "missing" else [out[0], *out])
    with pytest.raises(ModelError, match="observations are missing"):
        collect(job(), tmp_path, renderer, lambda: faulty)


def test_an_answer_nobody_asked_for_is_refused(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    faulty = Faulty(model, lambda out: [dataclasses.replace(out[0], id="other"), *out[1:]])
    with pytest.raises(ModelError, match="'other', which was not asked"):
        collect(job(), tmp_path, renderer, lambda: faulty)


def test_a_model_of_nan_gets_nothing_right(
    files: Any, job: Any, renderer: Renderer, tmp_path: Path
) -> None:
    import torch

    spec, found = files
    broken = HFLocal.load(found.folder, spec, dtype="float32", device="cpu", threads=1)
    with torch.no_grad():
        for parameter in broken._model.model.norm.parameters():
            parameter.fill_(float("nan"))
    manifest = collect(job(), tmp_path, renderer, lambda: broken)
    seen = [o for record in records(tmp_path) for o in record.observations.values()]
    asked = [o for o in seen if o.status != "not_applicable"]
    assert {o.status for o in asked} == {"nonfinite"}
    assert not any(o.correct for o in asked)
    assert sum(counts.get("nonfinite", 0) for counts in manifest.statuses.values()) == len(asked)


def test_an_over_long_item_is_a_status_and_the_shard_goes_on(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path: Path
) -> None:
    long = item(3, "word " * 9000, ("Yes", "No"))
    collect(job([ITEMS[0], long]), tmp_path, renderer, lambda: model)
    by_id = {record.native_id: record for record in records(tmp_path)}
    statuses = {o.status for o in by_id["q3"].observations.values()}
    assert statuses == {"too_long"}
    assert "too_long" not in {o.status for o in by_id["q0"].observations.values()}
