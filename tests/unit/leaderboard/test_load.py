from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import AnalysisError, RecordError
from assay.leaderboard.correctness import ABSENT, MISSING, NOT_APPLICABLE, RIGHT, WRONG
from assay.leaderboard.load import MissingCells, load, missing

from .builders import GRID, ORDERS, ShardWriter

R, W, NA = "right", "wrong", "not_applicable"
ALL_RIGHT = {0: [R] * 5, 1: [R] * 5}


def test_codes_statuses_and_slots(shard: ShardWriter) -> None:
    data = load([shard("m", "b", {0: [R, W, "none", NA, R], 1: [W, R, R, "empty", W]})])
    assert data.models == ("m",)
    assert [c.key for c in data.configurations] == list(GRID)
    assert data.reference_configuration.key == "gen|f|p0"
    assert data.values[0].tolist() == [
        [RIGHT, WRONG, WRONG, NOT_APPLICABLE, RIGHT],
        [WRONG, RIGHT, RIGHT, WRONG, WRONG],
    ]
    # Item 0 has gold 0, item 1 gold 1; a wrong answer picks the next option; p1 shows z, y, x.
    assert data.gold_slots.tolist() == [[0, 2, 0, -1, -1], [1, 1, 1, 1, -1]]
    assert data.slots[0].tolist() == [[0, 1, -1, -1, -1], [2, 1, 1, -1, -1]]
    assert data.items[0].options == 3
    assert not data.synthetic


def test_the_order_of_folders_does_not_matter(shard: ShardWriter) -> None:
    folders = [
        shard(model, benchmark, {0: [R, outcome, W, W, R]})
        for model, outcome in (("n", R), ("m", W))
        for benchmark in ("b", "a")
    ]
    first, second = load(folders), load(folders[::-1])
    assert first.models == second.models == ("m", "n")
    assert first.items == second.items
    assert np.array_equal(first.values, second.values)
    assert first.values[:, 0, 1].tolist() == [WRONG, RIGHT]


def test_an_observer_sees_every_shard(shard: ShardWriter) -> None:
    seen = []
    load(
        [shard("m", "b", ALL_RIGHT)],
        observer=lambda manifest, columns: seen.append((manifest.model, columns.item_ids)),
    )
    assert seen == [("m", ["b-0000", "b-0001"])]


def test_different_items_are_refused_naming_both_shards(shard: ShardWriter) -> None:
    folders = [shard("m", "b", {0: [R] * 5}), shard("n", "b", {0: [R] * 5, 1: [R] * 5})]
    with pytest.raises(AnalysisError, match="different items of b") as error:
        load(folders)
    assert all(str(folder) in str(error.value) for folder in folders)
    assert "b-0001" in str(error.value)
    assert "one snapshot" in str(error.value)


def test_different_configurations_are_refused_naming_both_shards(shard: ShardWriter) -> None:
    folders = [
        shard("m", "b", {0: [R] * 5}),
        shard("n", "b", {0: [R] * 4}, keys=GRID[:4]),
    ]
    with pytest.raises(AnalysisError, match="differ in their configurations") as error:
        load(folders)
    assert all(str(folder) in str(error.value) for folder in folders)


def test_different_references_are_refused(shard: ShardWriter) -> None:
    folders = [
        shard("m", "b", {0: [R] * 5}),
        shard("n", "b", {0: [R] * 5}, reference="gen|g|p0"),
    ]
    with pytest.raises(AnalysisError, match="differ in their reference"):
        load(folders)


def test_one_item_shown_in_two_orders_under_one_name_is_refused(shard: ShardWriter) -> None:
    other = ORDERS | {"p1": (1, 2, 0)}
    folders = [shard("m", "b", {1: [R] * 5}), shard("n", "b", {1: [R] * 5}, orders=other)]
    with pytest.raises(AnalysisError, match="item b-0001 in different orders"):
        load(folders)


def test_two_shards_of_one_model_and_benchmark_are_refused(shard: ShardWriter) -> None:
    folders = [shard("m", "b", ALL_RIGHT, run=name) for name in ("one", "two")]
    with pytest.raises(AnalysisError, match="both hold m on b"):
        load(folders)


def test_nothing_to_read_is_refused() -> None:
    with pytest.raises(AnalysisError, match="no shards"):
        load([])


def test_an_altered_shard_is_refused_by_name(shard: ShardWriter) -> None:
    folder = shard("m", "b", ALL_RIGHT)
    records = folder / "records.jsonl"
    records.write_bytes(records.read_bytes().replace(b"true", b"True", 1))
    with pytest.raises(RecordError, match=r"records\.jsonl"):
        load([folder])


def test_a_record_of_another_model_is_refused(shard: ShardWriter) -> None:
    folder = shard("m", "b", ALL_RIGHT, record_model="other")
    with pytest.raises(AnalysisError, match="b-0000 belongs to other on b"):
        load([folder])


def test_a_benchmark_without_the_reference_is_refused(shard: ShardWriter) -> None:
    with pytest.raises(AnalysisError, match=r"reference configuration gen\|f\|p0"):
        load([shard("m", "b", {0: [NA, R, R, R, R]})])


class TestMissing:
    def test_failed_observations_are_refused(self, shard: ShardWriter) -> None:
        folder = shard("m", "b", {0: [R, "oom", R, R, "backend_error"], 1: [R] * 5})
        with pytest.raises(AnalysisError, match="2 observations have no answer") as error:
            load([folder])
        assert "m on b" in str(error.value)
        assert "allow_missing" in str(error.value)

    def test_failed_observations_stay_missing_where_allowed(self, shard: ShardWriter) -> None:
        folder = shard("m", "b", {0: [R, "oom", R, R, R], 1: [R, "oom", R, NA, R]})
        data = load([folder], allow_missing=True)
        assert data.values[0, :, 1].tolist() == [MISSING, MISSING]
        assert missing(data) == [MissingCells("m", "b", "gen|f|p1", 2, "oom")]

    def test_not_applicable_is_not_missing(self, shard: ShardWriter) -> None:
        assert missing(load([shard("m", "b", {0: [R, NA, R, NA, R]})])) == []

    def test_an_absent_shard_is_refused_by_name(self, shard: ShardWriter) -> None:
        folders = [shard("m", "a", ALL_RIGHT), shard("m", "b", ALL_RIGHT)]
        folders.append(shard("n", "a", ALL_RIGHT))
        with pytest.raises(AnalysisError, match="no shard for n on b"):
            load(folders)

    def test_an_absent_shard_is_missing_where_allowed(self, shard: ShardWriter) -> None:
        folders = [shard("m", "a", ALL_RIGHT), shard("m", "b", ALL_RIGHT)]
        data = load([*folders, shard("n", "a", ALL_RIGHT)], allow_missing=True)
        assert (data.values[1, 2:] == MISSING).all()
        assert (data.statuses[1, 2:] == ABSENT).all()
        assert missing(data) == [MissingCells("n", "b", None, 10, "absent")]
        # What the other model observed still tells which configurations make sense.
        assert data.applicable.all()


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="never finished"):
        load([tmp_path])
