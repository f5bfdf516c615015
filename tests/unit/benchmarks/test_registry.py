"""The real benchmarks out of the real wheel, against published counts and the shared items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.benchmarks.item import Item
from assay.benchmarks.prepare import Prepared, prepare
from assay.benchmarks.snapshot import build_snapshot, read_snapshot
from assay.benchmarks.spec import BenchmarkSpec, Selection
from assay.core.files import read_json
from assay.core.pins import HubPin

Reader = Callable[[str], list[dict[str, Any]]]
Load = Callable[[str], Prepared]


@pytest.fixture(scope="session")
def load(registry: dict[str, BenchmarkSpec], assay_cache: Path) -> Load:
    """Return a reader of a registered benchmark; each is read once."""
    read: dict[str, Prepared] = {}

    def loaded(key: str) -> Prepared:
        if key not in read:
            read[key] = prepare(registry[key], cache=assay_cache, offline=False)
        return read[key]

    return loaded


@pytest.mark.parametrize(
    ("key", "items", "options"),
    [
        ("arc_challenge", 299, {3: 3, 4: 295, 5: 1}),
        ("arc_challenge_test", 1172, {3: 4, 4: 1165, 5: 3}),
        ("mmlu", 14042, {4: 14042}),
        ("hellaswag", 3243, {4: 3243}),
        ("openbookqa", 500, {4: 500}),
        ("openbookqa_test", 500, {4: 500}),
        ("commonsense_qa", 1221, {5: 1221}),
        ("piqa", 1838, {2: 1838}),
    ],
)
def test_counts_are_the_published_ones(
    load: Load, key: str, items: int, options: dict[int, int]
) -> None:
    prepared = load(key)
    assert len(prepared.items) == items
    assert Counter(len(item.options) for item in prepared.items.values()) == options
    assert len({item.item_id for item in prepared.items.values()}) == items


def test_hellaswag_takes_the_activitynet_half(load: Load) -> None:
    prepared = load("hellaswag")
    assert prepared.rows == 10042
    assert prepared.exclusions == {"filter source_id=activitynet~*": 6799}
    items = prepared.items.values()
    assert not any("[" in text for item in items for text in (item.question, *item.options))
    # 1,608 videos stand behind the 3,243 questions.
    assert len({item.cluster for item in items}) == 1608


def _same(item: Item, row: dict[str, Any]) -> bool:
    """Compare with a shared row, whose texts keep their outer white space."""
    return (
        item.question == row["question"].strip()
        and list(item.options) == [option.strip() for option in row["options"]]
        and item.gold == row["gold"]
    )


@pytest.mark.parametrize(
    ("key", "name", "split"),
    [
        ("arc_challenge", "arc_challenge.full.jsonl.gz", "validation"),
        ("arc_challenge_test", "arc_challenge.full.jsonl.gz", "test"),
        ("mmlu", "mmlu.full.jsonl.gz", "test"),
        ("hellaswag", "hellaswag.validation.jsonl.gz", "validation"),
        ("openbookqa_test", "openbookqa.sample300.jsonl", "test"),
        ("commonsense_qa", "commonsense_qa.sample300.jsonl", "validation"),
    ],
)
def test_items_equal_the_shared_ones(
    load: Load, normalised: Reader, key: str, name: str, split: str
) -> None:
    items = {}
    for item in load(key).items.values():
        items |= dict.fromkeys((item.native_id, *item.aliases), item)
    rows = [row for row in normalised(name) if row["split"] == split]
    if key == "hellaswag":
        rows = [row for row in rows if row["id"].startswith("activitynet~")]
    assert len(rows) in (300, len(load(key).items))
    assert [row["id"] for row in rows if not _same(items[row["id"]], row)] == []


def test_arc_labels_may_be_digits(load: Load, registry: Any, assay_cache: Path) -> None:
    """Four validation items are labelled 1–4 and one runs to E; all have a gold in range."""
    from assay.benchmarks.sources import read_rows

    rows = list(read_rows(registry["arc_challenge"].source, assay_cache, False))
    labels = Counter("".join(row["choices"]["label"]) for _, row in rows)
    assert labels == {"ABCD": 291, "1234": 4, "ABC": 3, "ABCDE": 1}
    digits = [row for _, row in rows if row["answerKey"].isdigit()]
    items = load("arc_challenge").items
    assert [items[row["id"]].gold for row in digits] == [
        int(row["answerKey"]) - 1 for row in digits
    ]


def test_mmlu_duplicates(load: Load, shared: Path) -> None:
    """27 repeats within a subject and 78 questions in two subjects, as reported in the field."""
    items = load("mmlu").items.values()
    flags = Counter(flag for item in items for flag in item.flags)
    across = {item.cluster for item in items if "duplicate_across_subjects" in item.flags}
    within = {item.cluster for item in items if "duplicate_item" in item.flags} - across
    assert (len(across), len(within)) == (78, 28)  # 27 exact, one with two blanks for one
    assert flags["duplicate_gold"] == 4
    assert flags["duplicate_option"] == 9
    assert "contradictory_gold" not in flags
    assert flags["in_validation"] == 28
    listed = read_json(shared / "data" / "mcq" / "traps.json")["mmlu_test_items_identical_to_dev"]
    assert {item.aliases[0] for item in items if "in_dev" in item.flags} == set(listed)
    for item in items:
        texts = [" ".join(option.split()) for option in item.options]
        assert len(item.accepts) == texts.count(texts[item.gold])


def test_duplicate_options_of_commonsense_qa(load: Load, shared: Path) -> None:
    listed = read_json(shared / "data" / "mcq" / "traps.json")["csqa_duplicate_option_text"]
    items = load("commonsense_qa").items.values()
    assert {item.native_id for item in items if "duplicate_option" in item.flags} == set(listed)


@pytest.mark.slow
def test_duplicate_options_of_medmcqa(load: Load, shared: Path) -> None:
    listed = read_json(shared / "data" / "mcq" / "traps.json")["medmcqa_duplicate_option_text"]
    items = load("medmcqa").items.values()
    assert len(items) == 4183
    assert {item.native_id for item in items if "duplicate_option" in item.flags} == set(listed)


def test_wheel_and_hub_entries_make_the_same_ids(registry: dict[str, BenchmarkSpec]) -> None:
    for key, spec in registry.items():
        if key.endswith("_hub"):
            assert isinstance(spec.source, HubPin)
            assert spec.name == key.removesuffix("_hub")
            assert spec.source.split == spec.split
        else:
            assert spec.name == key.removesuffix("_test")
        assert spec.attribution
        assert spec.title != key


def test_hub_pins_are_the_shared_ones(registry: dict[str, BenchmarkSpec], shared: Path) -> None:
    pins = {entry["hub"]: entry for entry in read_json(shared / "data/pins.json")["datasets"]}
    for spec in registry.values():
        if isinstance(spec.source, HubPin):
            pinned = pins[spec.source.repo]
            assert spec.source.revision == pinned["sha"]
            assert set(spec.source.files.values()) <= set(pinned.get("parquet_sha256", {}).values())


def test_default_snapshot_of_mmlu_spreads_over_subjects(
    registry: dict[str, BenchmarkSpec], assay_cache: Path, tmp_path: Path
) -> None:
    manifest = build_snapshot(
        registry["mmlu"],
        Selection(items=40, pool=5),
        cache=assay_cache,
        offline=False,
        target=tmp_path / "s",
    )
    assert manifest.available.items == 14042
    assert len(manifest.selected.subjects) >= 25
    assert manifest.selected.subjects["professional_law"] in (4, 5)  # 40 · 1534 / 14042 = 4.4
    snapshot = read_snapshot(tmp_path / "s")
    assert len(snapshot.fewshot) == 5
    assert not {item.question for item in snapshot.items} & {
        item.question for item in snapshot.fewshot
    }


def test_released_choice_of_arc_asks_four_options_only(
    registry: dict[str, BenchmarkSpec], assay_cache: Path, tmp_path: Path
) -> None:
    manifest = build_snapshot(
        registry["arc_challenge_test"],
        Selection(rule="released", items=1000),
        cache=assay_cache,
        offline=False,
        target=tmp_path / "s",
    )
    assert manifest.excluded == {"3 options": 4, "5 options": 3}
    assert manifest.selected.options == {"04": 1000}
    assert manifest.files["fewshot.jsonl"].rows == 5
