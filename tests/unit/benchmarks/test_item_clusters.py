from __future__ import annotations

from typing import Any

from assay.benchmarks.adapters.draft import Draft
from assay.benchmarks.clusters import clusters, duplicate_flags
from assay.benchmarks.sources import Location


def draft(name: str, question: str = "", **changes: Any) -> Draft:
    base: dict[str, Any] = {"where": Location("f", 0), "options": ("x", "y"), "gold": 0}
    return Draft(native_id=name, question=question or f"question {name}", **{**base, **changes})


def test_equal_content_is_one_cluster_whatever_the_order_of_options() -> None:
    drafts = [
        draft("b", "Same?"),
        draft("a", "Same? ", options=("y", "x"), gold=1),
        draft("c", "same?"),
        draft("d", "Same?", options=("X", "y")),
    ]
    assert clusters(drafts) == {"a": "a", "b": "a", "c": "c", "d": "d"}


def test_groups_and_duplicates_chain() -> None:
    drafts = [
        draft("1", group="video"),
        draft("2", "Same?", group="video"),
        draft("3", "Same?", group="other"),
        draft("4", group="other"),
        draft("5"),
    ]
    assert clusters(drafts) == {"1": "1", "2": "1", "3": "1", "4": "1", "5": "5"}
    assert clusters(drafts[::-1]) == clusters(drafts)


def test_flags_of_the_whole_set() -> None:
    drafts = [
        draft("1", "Same?", subject="law"),
        draft("2", "Same?", subject="law", gold=1),
        draft("3", "Other?", subject="law"),
        draft("4", "Other?", subject="art", options=("y", "x"), gold=1),
        draft("5", "Alone?", subject="art"),
    ]
    flags = duplicate_flags(drafts, {"dev": [draft("9", "Alone?"), draft("8", "Same?")]})
    assert flags == {
        "1": ("in_dev", "duplicate_item", "contradictory_gold"),
        "2": ("in_dev", "duplicate_item", "contradictory_gold"),
        "3": ("duplicate_item", "duplicate_across_subjects"),
        "4": ("duplicate_item", "duplicate_across_subjects"),
        "5": ("in_dev",),
    }
