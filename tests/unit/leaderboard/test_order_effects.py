from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.order_effects import order_effects, order_table
from support.twin import simulate

from .grids import KEYS, WAYS, study

RUNS, TOO_MANY = 300, 26
PLAIN = [k for k, key in enumerate(KEYS) if key.startswith("gen|letter_plain")]


def shown(
    seed: int, items: int, *, position: float = 0.0, order: float = 0.0, columns: list[int] = PLAIN
) -> Correctness:
    """Return a model that gains `position` where the right option comes first, `order` under p1.

    The right option of 70 % of the items comes first in the source, so that p0 shows it first
    far more often than the other orders do.
    """
    rng = np.random.default_rng([seed, items])
    gold = rng.choice(4, items, p=[0.7, 0.1, 0.1, 0.1])
    blank = study(np.zeros((1, items, 26), bool), gold=gold, columns=columns)
    first = blank.gold_slots == 0
    second = np.array([WAYS[k].order == "p1" for k in columns])
    ability = 0.5 + position * first + order * second - rng.normal(0, 1.5, (items, 1))
    right = ability + rng.normal(0, 0.8, first.shape) > 0
    values = right[None].astype(np.uint8)
    return type(blank)(**{**vars(blank), "values": values})


def test_a_position_bias_looks_like_an_order_and_is_none() -> None:
    data = shown(0, 2000, position=1.0)
    found = order_effects(data, data.scope("all"))
    effect = found.effects[0]
    assert effect.fit.raw[0] > 0.05  # p0 shows most right options first
    adjusted = [float(x.estimate) for x in effect.fit.adjusted]
    assert np.abs(adjusted).max() < 0.02
    assert effect.p_order > 0.01
    assert effect.p_position < 1e-6
    assert effect.fit.position[0].low > 0.05
    assert "matters for 0 of 1 model; at equal orders, the position matters for 1" in found.reading
    assert "with the right option at position 1" in found.reading


def test_an_order_of_its_own_is_found() -> None:
    data = shown(1, 1000, order=0.7)
    effect = order_effects(data, data.scope("all")).effects[0]
    assert effect.p_order < 1e-6
    assert effect.p_position > 0.01
    assert effect.fit.adjusted[1].low > 0.05


def test_the_model_is_that_with_a_column_for_each_item() -> None:
    data = shown(2, 40, position=0.8)
    fit = order_effects(data, data.scope("all")).effects[0].fit
    i, c = (axis.ravel() for axis in np.indices(data.gold_slots.shape))
    frame = pd.DataFrame(
        {
            "right": data.right[0].ravel().astype(float),
            "item": i,
            "order": c,
            "slot": data.gold_slots.ravel(),
        }
    )
    oracle = smf.ols("right ~ C(item) + C(order, Sum) + C(slot, Sum)", frame).fit().params
    for c in range(5):
        wanted = oracle[f"C(order, Sum)[S.{c}]"]
        assert fit.adjusted[c].estimate == pytest.approx(wanted, abs=1e-10)
    for s in range(3):
        assert fit.position[s].estimate == pytest.approx(oracle[f"C(slot, Sum)[S.{s}]"], abs=1e-10)
    assert sum(float(x.estimate) for x in fit.adjusted) == pytest.approx(0)


def test_one_place_in_the_source_cannot_be_told_apart() -> None:
    correct = simulate([1.0], items=60, rng=np.random.default_rng(0))
    data = study(correct, gold=[0] * 60)
    found = order_effects(data, data.scope("all"))
    assert found.effects == ()
    assert "shows the right option at the same position" in found.reading
    assert order_table(found).empty


@pytest.mark.parametrize(
    ("items", "columns", "why"),
    [(12, PLAIN, "fewer than 20"), (60, PLAIN[:1], "not two orders")],
)
def test_too_little_to_go_by(items: int, columns: list[int], why: str) -> None:
    correct = simulate([1.0], items=items, rng=np.random.default_rng(0))
    data = study(correct, columns=columns)
    found = order_effects(data, data.scope("all"))
    assert why in found.reading
    json.dumps(found.as_json(), allow_nan=False)


def test_items_that_no_order_moves_are_no_evidence() -> None:
    correct = np.zeros((1, 300, 26), bool)
    correct[0, :150] = True
    correct[0, :5, ::2] = False
    data = study(correct)
    found = order_effects(data, data.scope("all"))
    assert np.isnan(found.effects[0].fit.p_order)
    assert "cannot be told" in found.reading
    json.dumps(found.as_json(), allow_nan=False)


def test_table_and_alpha() -> None:
    data = shown(3, 100, columns=list(range(26)))
    table = order_table(order_effects(data, data.scope("all")))
    assert table["kind"].tolist() == ["order"] * 6 + ["position"] * 4
    assert table["level"].tolist()[:2] == ["p0", "p1"]
    with pytest.raises(AnalysisError, match="alpha"):
        order_effects(data, data.scope("all"), alpha=0)


@pytest.mark.parametrize("items", [40, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("position", [0.0, 1.0])
def test_an_order_without_effect_is_rarely_called_one(items: int, position: float) -> None:
    orders = positions = 0
    for run in range(RUNS):
        data = shown(run, items, position=position)
        fit = order_effects(data, data.scope("all")).effects[0].fit
        orders += fit.p_order <= 0.05
        positions += fit.p_position <= 0.05
    assert orders < TOO_MANY
    if position == 0:
        assert positions < TOO_MANY
