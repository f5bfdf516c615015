from __future__ import annotations

import numpy as np
import pytest

from assay.leaderboard.load import load
from assay.leaderboard.slots import preference, slot_table

from .builders import ShardWriter, build

R, W, NA = "right", "wrong", "not_applicable"


def test_by_hand(shard: ShardWriter) -> None:
    # Gold 0, 1, 2; p1 shows z, y, x. A wrong answer picks the option after the gold one.
    data = load(
        [shard("m", "b", {0: [R, R, R, R, R], 1: [W, NA, R, R, R], 2: [W, "none", R, R, R]})]
    )
    table = slot_table(data)
    rows = table[(table["benchmark"] == "b") & (table["format"] == "f")].set_index("label")
    # Usable: item 0 twice (slots 0 and 2, right), item 1 at p0 (slot 2), item 2 at p0 (slot 0).
    assert rows["n"].tolist() == [4, 4, 4]
    assert rows["chosen"].to_dict() == {"A": 2, "B": 0, "C": 2}
    assert rows["gold"].to_dict() == {"A": 1, "B": 1, "C": 2}
    assert rows["share"].to_dict() == {"A": 0.5, "B": 0, "C": 0.5}
    assert rows["recall"].to_dict() == {"A": 1, "B": 0, "C": 0.5}
    digits = table[(table["benchmark"] == "all") & (table["format"] == "g")]
    assert digits["label"].tolist() == ["1", "2", "3"]
    assert (digits["share"] == digits["gold_share"]).all()


def test_nothing_usable_has_no_rows(shard: ShardWriter) -> None:
    data = load([shard("m", "b", {0: ["none"] * 4 + [R]})])
    assert slot_table(data).empty


def test_a_model_that_always_picks_the_first_option_is_caught() -> None:
    rng = np.random.default_rng(0)
    data = build(np.ones((2, 30, 5)))
    data.gold_slots[:, :4] = rng.integers(0, 4, (30, 4))
    data.slots[0, :, :4] = 0
    data.slots[1, :, :4] = data.gold_slots[:, :4]
    first = preference(data, 0, alpha=0.05)
    assert first is not None
    assert (first.label, first.items, first.positions) == ("A", 30, 4)
    assert first.excess == pytest.approx(1 - (data.gold_slots[:, :2] == 0).mean())
    assert 0 < first.low < first.excess < first.high
    fair = preference(data, 1, alpha=0.05)
    assert fair is not None
    assert (fair.excess, fair.low, fair.high) == (0, 0, 0)


def test_too_few_items_show_no_preference() -> None:
    data = build(np.ones((1, 5, 5)))
    data.gold_slots[:, :4] = data.slots[:, :, :4] = 0
    assert preference(data, 0, alpha=0.05) is None


def test_unbiased_models_are_rarely_called_biased() -> None:
    wrong = 0
    for run in range(300):
        rng = np.random.default_rng([run, 8])
        data = build(np.ones((1, 40, 5)))
        data.gold_slots[:, :4] = rng.integers(0, 4, (40, 4))
        guesses = rng.integers(0, 4, (40, 4))
        knows = rng.random((40, 1)) < 0.5
        data.slots[0, :, :4] = np.where(knows, data.gold_slots[:, :4], guesses)
        found = preference(data, 0, alpha=0.05)
        wrong += found is not None and found.low > 0
    assert wrong < 26
