from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, POOLED, Correctness
from assay.leaderboard.ranks import rank_table, ranking

from .builders import build


def test_by_hand(tiny: Correctness) -> None:
    # Right items: m00 3 2 3 2 1, m01 2 2 0 0 3, m02 1 2 1 2 1.
    found = ranking(tiny, tiny.scope(POOLED))
    assert found.ranks.tolist() == [[1, 1, 1, 1, 2], [2, 1, 3, 3, 1], [3, 1, 2, 1, 2]]
    assert found.champions() == {"m00": 4, "m01": 2, "m02": 2}
    assert found.largest_move() == ("m01", 1, 3)
    table = rank_table([found])
    assert table["champion"].sum() == 8
    assert table[table["configuration"] == "gen|f|p1"]["rank"].tolist() == [1, 1, 1]


def test_agreement_is_tau_b_and_undefined_without_an_order(tiny: Correctness) -> None:
    found = ranking(tiny, tiny.scope(POOLED))
    tau = found.agreement()
    wanted = stats.kendalltau([3, 2, 1], [3, 0, 1]).statistic
    assert tau[0, 2] == tau[2, 0] == pytest.approx(wanted)
    assert np.isnan(tau[1]).all()  # all three models are equal under gen|f|p1
    assert 0 <= found.concordance() <= 1


def test_one_model_leads_everywhere_and_agrees_with_nobody() -> None:
    data = build(np.ones((1, 3, 5)))
    found = ranking(data, data.scope(POOLED))
    assert found.champions() == {"m00": 5}
    assert found.largest_move() == ("m00", 1, 1)
    assert np.isnan(found.agreement()).all()
    assert np.isnan(found.concordance())


def test_ranks_rest_on_the_items_that_all_models_observed_throughout() -> None:
    values = np.zeros((2, 4, 5))
    values[0, :2] = 1  # m00 is right on items 0 and 1
    values[1, 3] = 1  # m01 on item 3
    values[0, 0, 4] = MISSING
    values[:, 1, 1] = NOT_APPLICABLE
    data = build(values)
    found = ranking(data, data.scope(POOLED))
    assert found.items == 2
    assert found.accuracy[:, 0].tolist() == [0, 0.5]


def test_a_scope_without_common_items_has_no_rows() -> None:
    values = np.ones((2, 2, 5))
    values[0, 0, 0] = values[1, 1, 0] = MISSING
    data = build(values)
    found = ranking(data, data.scope(POOLED))
    assert found.items == 0
    assert rank_table([found]).empty
