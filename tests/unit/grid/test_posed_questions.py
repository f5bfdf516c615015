from __future__ import annotations

from pathlib import Path

import pytest

from assay.benchmarks.item import Item
from assay.config.registry import load_grid
from assay.grid.configuration import Configuration, Grid
from assay.grid.render import ClozeQuestion, LabelQuestion, pose


@pytest.fixture
def grid(project: Path) -> Grid:
    return load_grid(project / "config", "released")


def item(options: tuple[str, ...] = ("Iron", "Tin", "Gold", "Lead"), **changes: object) -> Item:
    values = {
        "benchmark": "b",
        "native_id": "n",
        "question": "Which {metal} is dearest?",
        "options": options,
        "gold": 2 % len(options),
        "accepts": (2 % len(options),),
        "cluster": "n",
    }
    return Item.model_validate(values | changes)


# Golden prompts: a change here means PROTOCOL_VERSION or the grid's version must be raised.
GOLDEN = {
    "gen|letter_plain|p1": (
        "Question: Which {metal} is dearest?\nA. Tin\nB. Gold\nC. Lead\nD. Iron\n"
        "Answer with the letter only:"
    ),
    "gen|letter_paren|p4": (
        "Question: Which {metal} is dearest?\n(A) Lead\n(B) Gold\n(C) Tin\n(D) Iron\n"
        "Answer with the letter only:"
    ),
    "gen|digit_labels|p5": (
        "Question: Which {metal} is dearest?\n1. Tin\n2. Iron\n3. Lead\n4. Gold\n"
        "Answer with the number only:"
    ),
    "gen|instruction|p0": (
        "The following is a multiple-choice question; exactly one option is correct.\n\n"
        "Question: Which {metal} is dearest?\nA. Iron\nB. Tin\nC. Gold\nD. Lead\n"
        "Answer with the letter only:"
    ),
}


@pytest.mark.parametrize("key", GOLDEN)
def test_golden_prompts(grid: Grid, key: str) -> None:
    posed = pose(item(), Configuration(*key.split("|")), grid)  # type: ignore[arg-type]
    assert isinstance(posed, LabelQuestion)
    assert posed.text == GOLDEN[key]
    assert posed.text.startswith(posed.shared)
    shown = [line.split(maxsplit=1)[1] for line in posed.text.splitlines()[-5:-1]]
    assert shown == [item().options[index] for index in posed.order]


def test_golden_stems(grid: Grid) -> None:
    plain = pose(item(), Configuration("ll", "cloze_plain", None), grid)
    question = pose(item(), Configuration("ll", "cloze_question", None), grid)
    endings = (" Iron", " Tin", " Gold", " Lead")
    assert plain == ClozeQuestion("Which {metal} is dearest?", endings)
    assert question == ClozeQuestion("Question: Which {metal} is dearest?\nAnswer:", endings)


def test_the_gold_is_shown_where_the_order_says(grid: Grid) -> None:
    for n in range(6):
        posed = pose(item(), Configuration("gen", "letter_plain", f"p{n}"), grid)
        assert isinstance(posed, LabelQuestion)
        slot = posed.order.index(item().gold)
        assert f"{posed.labels[slot]}. Gold\n" in posed.text


def test_locked_items_are_asked_in_source_order_only(grid: Grid) -> None:
    locked = item(("Iron", "Tin", "Both A and B", "Lead"), flags=("letter_reference",))
    assert locked.locked, "the flag must be one that locks"
    asked = [c.key for c in grid.configurations() if pose(locked, c, grid) is not None]
    formats = ["letter_plain", "letter_paren", "digit_labels", "instruction"]
    assert asked == [*(f"gen|{name}|p0" for name in formats), "ll|cloze_plain", "ll|cloze_question"]


def test_two_options_have_two_orders(grid: Grid) -> None:
    two = item(("Yes", "No"), gold=0, accepts=(0,))
    asked = [c.key for c in grid.configurations() if pose(two, c, grid) and c.scoring == "gen"]
    assert len(asked) == 2 * 4
