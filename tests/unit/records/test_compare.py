from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay.cli.compare import comparison_lines
from assay.cli.main import app
from assay.core.errors import RecordError
from assay.records.compare import Comparison, compare_shards
from assay.records.schema import Observation, Record, Scores
from assay.records.shard import Shard, read_shard, write_shard

GEN, LL = "gen|letter_plain|p0", "ll|cloze|p0"


def record(number: int, text: str, token: tuple[float, float]) -> Record:
    best = int(token[1] > token[0])
    scores = Scores(sum=token, token=token, byte=token)
    observations = {
        GEN: Observation(key=f"g{text}", status="ok", correct=True, choice=0, text=text),
        LL: Observation(
            key=f"l{token}",
            status="ok",
            correct=not best,
            choice=best,
            scores=scores,
            margin=abs(token[0] - token[1]),
        ),
    }
    return Record(
        benchmark="b",
        model="m",
        item_id=f"i{number}",
        native_id=f"i{number}",
        question="Which?",
        options=("x", "y"),
        gold=0,
        accepts=(0,),
        subject="s",
        cluster="c",
        locked=False,
        flags=(),
        observations=observations,
    )


PLAIN = [("A", (-1.0, -2.0)), ("A", (-1.0, -1.0001)), ("A", (-3.0, -1.0))]


@pytest.fixture
def shard(tmp_path: Path) -> Callable[..., Shard]:
    def build(rows: list[tuple[str, tuple[float, float]]], **facts: Any) -> Shard:
        folder = tmp_path / f"s{len(list(tmp_path.iterdir()))}"
        records = [record(n, *row) for n, row in enumerate(rows)]
        base: dict[str, Any] = {
            "model": "m",
            "benchmark": "b",
            "reference": GEN,
            "configurations": {GEN: {}, LL: {}},
            "labels": {},
            "snapshot_sha256": "0" * 64,
            "provenance": {},
        }
        write_shard(folder, records, [], base | facts)
        return read_shard(folder)

    return build


def test_a_shard_equals_itself(shard: Any) -> None:
    found = compare_shards(shard(PLAIN), shard(PLAIN))
    assert found == Comparison(6, 0.0, 1e-3, ())
    assert found.equal
    assert comparison_lines(found)[-1] == "Equal within the bound."


def test_a_flip_within_twice_the_bound_is_arithmetic(shard: Any) -> None:
    moved = [PLAIN[0], ("A", (-1.0001, -1.0)), PLAIN[2]]
    found = compare_shards(shard(PLAIN), shard(moved))
    assert [d.name for d in found.disagreements] == [f"i1 {LL}"]
    assert found.equal
    assert not compare_shards(shard(PLAIN), shard(moved), bound=1e-5).equal


def test_disagreements_are_listed_by_margin_those_without_one_first(shard: Any) -> None:
    moved = [("B", (-2.0, -1.0)), ("A", (-1.0001, -1.0)), ("A", (-1.0, -9.0))]
    found = compare_shards(shard(PLAIN), shard(moved))
    names = [d.name for d in found.disagreements]
    assert names == [f"i0 {GEN}", f"i2 {LL}", f"i0 {LL}", f"i1 {LL}"]
    assert [d.name for d in found.unexplained] == names[:3]
    assert found.largest == 8.0
    assert comparison_lines(found)[-1].endswith("; 3 disagreements are more than arithmetic.")
    assert "'A' | ok option 0 'B'" in comparison_lines(found)[1]
    assert comparison_lines(found, shown=1)[2] == "… and 3 more."


def test_scores_beyond_the_bound_are_not_equal_though_no_choice_flips(shard: Any) -> None:
    found = compare_shards(shard(PLAIN), shard([("A", (-1.01, -2.0)), *PLAIN[1:]]))
    assert not found.disagreements
    assert found.largest == pytest.approx(0.01)
    assert not found.equal
    last = comparison_lines(found)[-1]
    assert last == "Not equal: scores differ by more than the bound."


@pytest.mark.parametrize(
    "other",
    [{"snapshot_sha256": "1" * 64}, {"configurations": {GEN: {}}}, {"benchmark": "c"}],
)
def test_other_questions_cannot_be_compared(shard: Any, other: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match=next(iter(other))):
        compare_shards(shard(PLAIN), shard(PLAIN, **other))


def test_the_command_fails_where_shards_differ(shard: Any) -> None:
    first, same = shard(PLAIN), shard(PLAIN)
    other = shard([("B", (-1.0, -2.0)), *PLAIN[1:]])
    run = CliRunner().invoke
    assert run(app, ["compare-shards", str(first.folder), str(same.folder)]).exit_code == 0
    found = run(app, ["compare-shards", str(first.folder), str(other.folder)])
    assert found.exit_code == 1
    assert "5 of 6 observations are the same" in found.output
