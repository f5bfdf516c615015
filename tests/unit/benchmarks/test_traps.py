from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.benchmarks.traps import FLAGS, LOCKING, names_labels, option_flags, speaks_of_others
from assay.core.files import read_json

Reader = Callable[[str], list[dict[str, Any]]]


@pytest.mark.parametrize(
    "text",
    [
        "A and C only",
        "both A and B",
        "Both (a) and (b).",
        "neither A nor B; there is no such thing",
        "Nether A nor B",
        "a or b",
        "A, B, and C",
        "A B and C.",
        "(B) (C) and (D).",
        "a. and c. above",
        "Both A & C",
        "All of (a) to (c) are true",
        "Options A and B",
        "the same as option C",
        "Both option 2 and 3",
        "both A and D are correct.",
    ],
)
def test_options_that_name_labels(text: str) -> None:
    assert names_labels(text, 4)


@pytest.mark.parametrize(
    "text",
    [
        "both a molten core and rotation",
        "all by a single person",
        "A charge in a field",
        "vitamin A",
        "B6 and B12",
        "A and F",  # four options have no F
        "A-B and B-C",
        "I and II only",
        "a choice a person makes",
        "the best option I have",
        "Plan A and then Plan B",
        "R and r",
        "option 7",
    ],
)
def test_options_that_only_look_like_it(text: str) -> None:
    assert not names_labels(text, 4)


@pytest.mark.parametrize(
    "text",
    [
        "All of the above",
        "none of the above.",
        "All the above",
        "all of below.",
        "Either of above.",
        "None of these",
        "All of these theories are merely speculation",
        "Neither of these",
        "both",
        "Neither.",
        "All of them",
        "None of these choices is correct.",
        "All of the options given are correct",
        "all answers are correct",
        "To achieve all the functions listed above",
        "a combination of the above",
        "None of the above is a true statement.",
    ],
)
def test_options_that_speak_of_the_others(text: str) -> None:
    assert speaks_of_others(text)


@pytest.mark.parametrize(
    "text",
    [
        "No-one is above the law.",
        "prices above equilibrium",
        "all prices above equilibrium",
        "some above ground, others below",
        "0.59 ounces above the mean",
        "the brain weights of these two groups",
        "none",
        "None",
        "all",
        "Both SRAM and DRAM",
        "none of them are successful.",
        "The option is exercised",
    ],
)
def test_options_that_do_not_speak_of_the_others(text: str) -> None:
    assert not speaks_of_others(text)


def test_letter_case_is_never_folded_into_a_duplicate() -> None:
    flags = option_flags(["R", "rr", "Rr", "RR"], 0)
    assert flags == ("case_only_options",)


def test_white_space_does_not_hide_a_duplicate() -> None:
    assert option_flags(["a \u00a0 b", "a b", "c"], 1) == ("duplicate_option", "duplicate_gold")


def test_flags_come_in_one_order() -> None:
    flags = option_flags(["A", "b", "b", "all of the above"], 1)
    assert flags == tuple(flag for flag in FLAGS if flag in flags)
    assert {"of_the_above", "label_option", "duplicate_option", "duplicate_gold"} == set(flags)


def test_every_listed_option_trap_of_mmlu_is_found(normalised: Reader, shared: Any) -> None:
    """Every listed id is found by rule, and the rules that lock items hit little else.

    35 of the ids listed as letter references are articles ("all by a single person"), and one
    listed under "of the above" is not of that kind: these earn `possible_reference`, which does not
    lock. What the locking rules find beyond the lists was read item by item: all are real.
    """
    listed = read_json(shared / "data" / "mcq" / "traps.json")
    flags = {
        row["id"]: set(option_flags(row["options"], row["gold"]))
        for row in normalised("mmlu.full.jsonl.gz")
        if row["split"] == "test"
    }
    wide = {"possible_reference", *LOCKING}
    for name, narrow, at_least, at_most_others in (
        ("mmlu_letter_reference", {"letter_reference"}, 95, 7),
        ("mmlu_of_the_above", {"of_the_above"}, 549, 53),
    ):
        ids = set(listed[name])
        assert {name for name in ids if not flags[name] & wide} == set()
        hits = {name for name in flags if flags[name] & narrow}
        print(f"{name}: {len(hits & ids)} of {len(ids)}, {len(hits - ids)} others")
        assert len(hits & ids) >= at_least
        assert len(hits - ids) <= at_most_others
    exact = {name for name in flags if "duplicate_option" in flags[name]}
    assert exact == set(listed["mmlu_duplicate_option_text"])
    assert sum("duplicate_gold" in found for found in flags.values()) == 4


def test_case_only_duplicate_of_arc_is_found(normalised: Reader, shared: Any) -> None:
    listed = read_json(shared / "data" / "mcq" / "traps.json")["arc_test_case_only_duplicates"]
    found = [
        row["id"]
        for row in normalised("arc_challenge.full.jsonl.gz")
        if row["split"] == "test"
        and "case_only_options" in option_flags(row["options"], row["gold"])
    ]
    assert found == listed


def test_the_locking_rules_are_quiet_where_there_is_nothing(normalised: Reader) -> None:
    for name in ("arc_challenge.full.jsonl.gz", "truthfulqa_mc1.full.jsonl.gz"):
        rows = normalised(name)
        locked = [row for row in rows if LOCKING & set(option_flags(row["options"], row["gold"]))]
        assert locked == [], name
