from __future__ import annotations

import numpy as np
import pytest

from assay.leaderboard.correctness import POOLED, Correctness
from assay.leaderboard.headlines import decompose, headlines
from assay.leaderboard.items import ItemClasses


def test_decomposition_by_hand() -> None:
    right = np.array([[1, 1, 1, 0, 1], [1, 0, 1, 0, 0], [0, 0, 1, 1, 0]], bool)
    fragile = np.array([[0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 1, 0]], bool)
    found = decompose(np.ones_like(right), right, fragile)
    assert found.order.tolist() == [0, 1, 2]
    # First pair: leads on item 1 (fragile) and item 4 (robust). Second: +1 on item 0, -1 on 3.
    assert found.gap == pytest.approx([0.4, 0])
    assert found.fragile == pytest.approx([0.2, 0])
    assert found.fragile_items == pytest.approx([0.2, 0.4])
    assert found.pooled == pytest.approx(0.5)
    assert found.mean_of_shares == pytest.approx(0.5)


def test_parts_of_opposite_sign_exceed_the_whole() -> None:
    right = np.array([[1, 1, 0], [0, 0, 1]], bool)
    fragile = np.array([[1, 1, 0], [0, 0, 0]], bool)
    found = decompose(np.ones_like(right), right, fragile)
    assert found.pooled == pytest.approx(2)


def test_pooled_and_mean_differ_where_gaps_do() -> None:
    right = np.zeros((3, 10), bool)
    right[0, :9] = right[1, :1] = True
    fragile = np.zeros_like(right)
    fragile[0, 1:9] = True
    found = decompose(np.ones_like(right), right, fragile)
    assert found.gap == pytest.approx([0.8, 0.1])
    assert found.pooled == pytest.approx(8 / 9)
    assert found.mean_of_shares == pytest.approx(0.5)


def test_without_a_gap_there_is_no_share() -> None:
    right = np.ones((2, 3), bool)
    found = decompose(right, right, ~right)
    assert np.isnan([found.pooled, found.mean_of_shares]).all()


def test_only_items_observed_for_both_count() -> None:
    right = np.array([[1, 1, 0], [0, 0, 0]], bool)
    present = np.array([[1, 1, 1], [1, 0, 1]], bool)
    found = decompose(present, right & present, np.zeros_like(right))
    assert found.n.tolist() == [2]
    assert found.gap == pytest.approx([0.5])


def test_one_model_has_no_pairs() -> None:
    right = np.ones((1, 3), bool)
    found = decompose(right, right, right)
    assert found.gap.size == 0
    assert np.isnan(found.pooled)


def test_headlines_by_hand(tiny: Correctness) -> None:
    common = tiny.complete(tiny.scope(POOLED)).all(axis=0)
    classes = ItemClasses.of(tiny.present, tiny.right)
    found, parts = headlines(tiny.present, tiny.right, classes, reference=0, common=common)
    # Classes, from items 0 to 3: m00 C F F W, m01 F F W F, m02 W C F W.
    assert found.any_flip == pytest.approx(6 / 12)
    assert found.robust == pytest.approx(2 / 12)
    assert found.optimistic == pytest.approx(8 / 12)
    assert parts.gap == pytest.approx([0.25, 0.25])
    assert found.fragile_item_share == pytest.approx(1)
    assert found.fragile_share_of_gap == pytest.approx(1)
    assert (found.champions, found.largest_move) == (3, 2)
