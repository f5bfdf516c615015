from __future__ import annotations

from typing import Any

import pytest

from assay.benchmarks.item import Item, accepted, check
from assay.core.errors import SnapshotError
from assay.core.identity import digest


def item(**changes: Any) -> Item:
    base: dict[str, Any] = {
        "benchmark": "sums",
        "native_id": "1",
        "question": "1 + 1?",
        "options": ("2", "3"),
        "gold": 0,
        "accepts": (0,),
        "cluster": "1",
    }
    return Item(**{**base, **changes})


def test_id_is_the_digest_of_what_is_asked() -> None:
    assert item().item_id == digest(["sums", "1", "1 + 1?", ["2", "3"], 0], length=16)


@pytest.mark.parametrize(
    "change",
    [
        {"benchmark": "sums2"},
        {"native_id": "2"},
        {"question": "1 + 1 ?"},
        {"options": ("2", "4")},
        {"options": ("3", "2")},
        {"gold": 1},
    ],
)
def test_id_changes_with_content(change: dict[str, Any]) -> None:
    assert item(**change).item_id != item().item_id


def test_id_does_not_change_with_what_is_known_about_the_item() -> None:
    assert item(subject="a", flags=("cleaned",), cluster="x").item_id == item().item_id


def test_locked_follows_the_flags() -> None:
    assert not item(flags=("duplicate_option",)).locked
    assert item(flags=("letter_reference",)).locked
    assert item(flags=("cleaned", "of_the_above")).locked


def test_line_round_trip() -> None:
    one = item(before={"question": " 1 + 1?"}, aliases=("a/test/0",))
    assert Item.from_line(one.line(), where="x") == one


def test_line_with_another_content_is_refused() -> None:
    line = {**item().line(), "question": "1 + 2?"}
    with pytest.raises(SnapshotError, match=r"items\.jsonl:4: item .* the id of its content"):
        Item.from_line(line, where="items.jsonl:4")


def test_accepts_every_equal_text_but_not_another_case() -> None:
    assert accepted(("a  b", "c", "a b", "A b"), 0) == (0, 2)


@pytest.mark.parametrize(
    ("question", "options", "gold", "message"),
    [
        ("q", ("a", "b"), 2, "gold index 2 is out of range for 2 options"),
        ("q", ("a", "b"), -1, "out of range"),
        ("q", ("a",), 0, "this one has 1"),
        ("q", (), 0, "this one has 0"),
        ("q", tuple(map(str, range(27))), 0, "this one has 27"),
        ("q", ("a", " \u00a0"), 0, "option 1 .* is empty"),
        (" ", ("a", "b"), 0, "question is empty"),
    ],
)
def test_items_that_cannot_be_asked(
    question: str, options: tuple[str, ...], gold: int, message: str
) -> None:
    with pytest.raises(SnapshotError, match=rf"^f\.csv:7: .*{message}.* Fix: "):
        check(question, options, gold, where="f.csv:7")


def test_most_options_are_allowed() -> None:
    check("q", tuple(map(str, range(26))), 25, where="x")
