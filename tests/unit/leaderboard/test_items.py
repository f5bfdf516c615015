from __future__ import annotations

from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, Correctness
from assay.leaderboard.items import fragility_table, item_table

from .builders import build


def test_by_hand(tiny: Correctness) -> None:
    table = item_table(tiny)
    assert table[table["model"] == "m00"]["item_class"].tolist() == [
        "robust-correct",
        "fragile",
        "fragile",
        "robust-wrong",
    ]
    assert table["present"].eq(5).all()
    assert table[table["model"] == "m01"]["correct"].tolist() == [3, 3, 0, 1]
    fragility = fragility_table(tiny)
    assert fragility["fragility"].tolist() == [1 / 3, 2 / 3, 2 / 3, 1 / 3]
    assert fragility["models"].eq(3).all()


def test_classes_are_over_present_observations() -> None:
    data = build([[[1, MISSING, 1, NOT_APPLICABLE, 1], [MISSING] * 5]])
    table = item_table(data)
    assert table["item_id"].tolist() == ["i00000"]
    assert (table["item_class"][0], table["present"][0]) == ("robust-correct", 3)


def test_an_item_observed_once_has_no_fragility() -> None:
    once = [1, MISSING, MISSING, MISSING, MISSING]
    data = build([[once, [1, 0, 1, 1, 1]], [once, [1] * 5]])
    table = fragility_table(data)
    assert table["item_id"].tolist() == ["i00001"]
    assert table["fragility"].tolist() == [0.5]
