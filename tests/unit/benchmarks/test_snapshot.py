from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.benchmarks import prepare, sources
from assay.benchmarks.describe import describe
from assay.benchmarks.snapshot import build_snapshot, read_snapshot, verify_snapshot
from assay.benchmarks.spec import BenchmarkSpec, Selection
from assay.core.errors import SnapshotError, SourceError
from support.small_disk import run_with_small_disk

Sums = Callable[..., BenchmarkSpec]


def build(spec: BenchmarkSpec, target: Path, **selection: Any) -> Any:
    chosen = Selection(**selection)
    return build_snapshot(spec, chosen, cache=target.parent, offline=True, target=target)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def trap_rows() -> list[dict[str, Any]]:
    plain = [
        {"id": f"p{number}", "topic": "t", "question": f"q{number}?", "options": list("wxyz")}
        for number in range(6)
    ]
    options = {
        "above": ["w", "x", "y", "all of the above"],
        "letters": ["w", "x", "y", "both A and C"],
        "double": ["w", "w", "y", "z"],
        "three": ["w", "x", "y"],
        "twin": list("wxyz"),
    }
    traps = [
        {"id": name, "topic": "t", "question": f"{name}?", "options": texts}
        for name, texts in options.items()
    ]
    traps[-1]["question"] = "q1?"
    return [{**row, "answer": 0} for row in [*plain, *traps]]


def test_round_trip(sums: Sums, tmp_path: Path) -> None:
    manifest = build(sums(), tmp_path / "s", items=5)
    snapshot = read_snapshot(tmp_path / "s")
    assert snapshot.manifest == manifest == verify_snapshot(tmp_path / "s")
    assert len(snapshot.items) == manifest.selected.items == 5
    assert {item.gold for item in snapshot.items} == {2}
    assert {item.benchmark for item in snapshot.items} == {"sums"}
    assert snapshot.fewshot == ()
    assert snapshot.provenance()["items_sha256"] == manifest.files["items.jsonl"].sha256


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(order=st.permutations(range(23)), items=st.integers(1, 18), ids=st.booleans())
def test_row_order_does_not_change_a_byte(
    order: list[int], items: int, ids: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Rows of a file in another order, duplicates among them, give the same snapshot."""
    folder = tmp_path_factory.mktemp("rows")
    rows = trap_rows() + [
        {"id": f"s{number}", "topic": f"t{number % 3}", "question": f"{number}?", "answer": 1}
        | {"options": [str(number), str(number + 1)]}
        for number in range(12)
    ]
    columns = {"id": "id", "subject": "topic"} if ids else {"subject": "topic"}
    snapshots = []
    for name, arranged in (("a", rows), ("b", [rows[place] for place in order])):
        path = folder / name / "rows.jsonl"
        path.parent.mkdir()
        path.write_text("".join(json.dumps(row) + "\n" for row in arranged))
        entry = {"key": "mine", "source": {"kind": "path", "path": str(path)}, "columns": columns}
        spec = BenchmarkSpec.model_validate_json(
            json.dumps({**entry, "adapter": "generic", "licence": "CC0"})
        )
        build(spec, folder / name / "s", items=items, pool=3)
        snapshots.append(content(folder / name / "s"))
    (one, other) = snapshots
    assert one["items.jsonl"] == other["items.jsonl"]
    assert one["fewshot.jsonl"] == other["fewshot.jsonl"]
    # The manifest names the file's own digest, and nothing else may differ.
    digest = json.loads(other["manifest.json"])["sources"]["items"]["rows.jsonl"]
    mine = json.loads(one["manifest.json"])["sources"]["items"]["rows.jsonl"]
    assert one["manifest.json"].replace(mine.encode(), digest.encode()) == other["manifest.json"]


def test_rows_may_arrive_in_any_order(
    sums: Sums, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(sums(), tmp_path / "one", items=7, pool=2)
    real = sources.read_rows

    def shuffled(*arguments: Any) -> Any:
        rows = list(real(*arguments))
        random.Random(5).shuffle(rows)
        return iter(rows)

    monkeypatch.setattr(prepare.sources, "read_rows", shuffled)
    build(sums(), tmp_path / "other", items=7, pool=2)
    assert content(tmp_path / "one") == content(tmp_path / "other")


def test_nothing_of_this_machine_is_in_a_snapshot(sums: Sums, tmp_path: Path) -> None:
    build(sums(), tmp_path / "s", items=5)
    manifest = (tmp_path / "s/manifest.json").read_text()
    assert str(tmp_path) not in manifest
    assert "sums.jsonl" in manifest


def test_locked_flagged_and_clustered(sums: Sums, tmp_path: Path) -> None:
    manifest = build(sums(trap_rows()), tmp_path / "s", rule="all")
    items = {item.native_id: item for item in read_snapshot(tmp_path / "s").items}
    assert {name for name, item in items.items() if item.locked} == {"above", "letters"}
    assert manifest.selected.locked == 2
    assert items["double"].accepts == (0, 1)
    assert items["twin"].cluster == items["p1"].cluster == "p1"
    assert items["twin"].item_id != items["p1"].item_id
    assert manifest.selected.clusters == manifest.selected.items - 1
    assert manifest.selected.flags["duplicate_item"] == 2
    assert manifest.selected.options == {"03": 1, "04": 10}


def test_exclusions_are_counted_by_reason(sums: Sums, tmp_path: Path) -> None:
    spec = sums(
        trap_rows(),
        exclude=["of_the_above", "duplicate_option"],
        option_counts=[4],
        filters={"id": "[!p]*"},
    )
    manifest = build(spec, tmp_path / "s", rule="all")
    assert manifest.rows == 11
    assert manifest.excluded == {
        "3 options": 1,
        "filter id=[!p]*": 6,
        "flag duplicate_option": 1,
        "flag of_the_above": 1,
    }
    assert {item.native_id for item in read_snapshot(tmp_path / "s").items} == {"letters", "twin"}


def test_fewshot_pool_from_the_items(sums: Sums, tmp_path: Path) -> None:
    build(sums(), tmp_path / "s", items=6, pool=4)
    snapshot = read_snapshot(tmp_path / "s")
    asked = {item.native_id for item in snapshot.items}
    assert len(snapshot.fewshot) == 4
    assert not asked & {item.native_id for item in snapshot.fewshot}
    build(sums(), tmp_path / "s", items=6)
    assert read_snapshot(tmp_path / "s").fewshot == ()
    assert not (tmp_path / "s/fewshot.jsonl").exists()


def test_fewshot_pool_from_its_own_source(sums: Sums, tmp_path: Path) -> None:
    dev = tmp_path / "dev.jsonl"
    rows = [
        {"id": "d1", "topic": "t", "question": "What is 3 + 3?", "options": ["6", "7", "8", "9"]},
        {"id": "d2", "topic": "t", "question": "What is 99 + 1?", "options": ["100", "101"]},
    ]
    rows[0]["options"] = ["7", "8", "6", "9"]
    dev.write_text("".join(json.dumps({**row, "answer": 0}) + "\n" for row in rows))
    source = {"kind": "path", "path": str(dev)}
    spec = sums(fewshot=source, compare={"dev": source})
    build(spec, tmp_path / "s", rule="all", pool=5)
    snapshot = read_snapshot(tmp_path / "s")
    assert [item.native_id for item in snapshot.fewshot] == ["d2"]
    found = [item.native_id for item in snapshot.items if "in_dev" in item.flags]
    assert found == ["sum-003"]
    assert set(snapshot.manifest.sources) == {"items", "fewshot", "compare dev"}


@pytest.mark.parametrize("name", ["items.jsonl", "fewshot.jsonl"])
@pytest.mark.parametrize("fault", ["edit", "truncate", "delete"])
def test_an_altered_snapshot_is_refused_by_name(
    sums: Sums, tmp_path: Path, name: str, fault: str
) -> None:
    build(sums(), tmp_path / "s", items=6, pool=2)
    path = tmp_path / "s" / name
    before = path.read_bytes()
    if fault == "edit":
        path.write_bytes(before.replace(b"What", b"Whut", 1))
    elif fault == "truncate":
        path.write_bytes(before[:-20])
    else:
        path.unlink()
    with pytest.raises(SnapshotError, match=rf"{name}: this file .*build the snapshot again"):
        read_snapshot(tmp_path / "s")


def test_a_torn_or_foreign_manifest_is_refused(sums: Sums, tmp_path: Path) -> None:
    build(sums(), tmp_path / "s", items=6)
    path = tmp_path / "s/manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "complete": False}))
    with pytest.raises(SnapshotError, match=r"manifest\.json: not a manifest: complete"):
        verify_snapshot(tmp_path / "s")
    path.unlink()
    with pytest.raises(SnapshotError, match="there is no complete snapshot here"):
        verify_snapshot(tmp_path / "s")


def test_bad_input_overwrites_nothing(sums: Sums, tmp_path: Path) -> None:
    build(sums(), tmp_path / "s", items=6)
    before = content(tmp_path / "s")
    bad = sums([{"id": "x", "topic": "t", "question": "q", "options": ["a", "b"], "answer": 2}])
    with pytest.raises(SnapshotError, match=r"sums\.jsonl:1 \(x\): the gold index 2"):
        build(bad, tmp_path / "s", items=1)
    assert content(tmp_path / "s") == before


def test_an_empty_benchmark_is_refused(sums: Sums, tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="'sums' has no items: 0 rows were read"):
        build(sums([]), tmp_path / "s")
    with pytest.raises(SnapshotError, match=r"12 rows were read and 12 left out \{'4 options'"):
        build(sums(option_counts=[2]), tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_more_items_than_exist(sums: Sums, tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="^sums: 13 items are asked for, but only 12 exist"):
        build(sums(), tmp_path / "s", items=13)


def test_missing_file_and_unknown_column(sums: Sums, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file of items"):
        build(sums(source={"kind": "path", "path": "none.jsonl"}), tmp_path / "s")
    with pytest.raises(SnapshotError, match=r"sums\.jsonl:1: there is no column 'topik'"):
        build(sums(filters={"topik": "x"}), tmp_path / "s")


_BUILD = """
import sys
from pathlib import Path
from assay.benchmarks.snapshot import build_snapshot
from assay.benchmarks.spec import BenchmarkSpec, Selection
from assay.core.errors import AssayError
spec = BenchmarkSpec.model_validate_json(sys.argv[1])
target = Path(sys.argv[2])
try:
    build_snapshot(spec, Selection(items=8), cache=target, offline=True, target=target)
except AssayError as error:
    sys.exit(str(error))
"""


def test_full_disk_keeps_the_old_snapshot(sums: Sums, tmp_path: Path) -> None:
    """No file may grow beyond 1,000 bytes: the write fails half way."""
    build(sums(), tmp_path / "s", items=6)
    before = content(tmp_path / "s")
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, sums().model_dump_json(), str(tmp_path / "s")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "cannot write: File too large" in done.stderr
    assert "nothing was overwritten" in done.stderr
    assert content(tmp_path / "s") == before
    assert read_snapshot(tmp_path / "s").manifest.selected.items == 6


def test_no_space_left_on_the_device(sums: Sums, tmp_path: Path) -> None:
    """On a real file system of 4 kB, of which a snapshot needs 6."""
    target = tmp_path / "disk"
    done = run_with_small_disk(target, 4, _BUILD, sums().model_dump_json(), str(target / "s"))
    assert done.returncode == 1
    assert "cannot write: No space left on device" in done.stderr


def test_no_room_in_temp_does_not_matter(sums: Sums, tmp_path: Path) -> None:
    temp, spec = tmp_path / "temp", sums().model_dump_json()
    full = f"open('{temp}/full', 'wb').write(bytes(4096))\n" + _BUILD
    target = str(tmp_path / "s")
    done = run_with_small_disk(temp, 4, full, spec, target, TMPDIR=str(temp))
    assert done.returncode == 0, done.stderr
    assert read_snapshot(tmp_path / "s").manifest.selected.items == 8


def test_the_manifest_is_renamed_last(
    sums: Sums, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash between two renames must not leave a manifest beside older items that verifies."""
    renamed: list[str] = []
    real = os.replace

    def recorded(source: Any, target: Any) -> None:
        renamed.append(Path(target).name)
        real(source, target)

    monkeypatch.setattr(os, "replace", recorded)
    build(sums(), tmp_path / "s", items=6, pool=2)
    assert set(renamed) == {"items.jsonl", "fewshot.jsonl", "manifest.json"}
    assert renamed[-1] == "manifest.json"


def test_describe_says_what_matters(sums: Sums, tmp_path: Path) -> None:
    build(sums(trap_rows(), exclude=["letter_reference"]), tmp_path / "s", items=8, pool=1)
    words = describe(read_snapshot(tmp_path / "s"))
    for expected in (
        "sums (sums): 8 items of 10",
        "1 few-shot examples",
        "flag letter_reference: 1",
        "sums.jsonl: ",
        "asked in source order only",
    ):
        assert expected in words
