from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.compression import compression, compression_table
from assay.leaderboard.correctness import POOLED, Correctness
from assay.leaderboard.items import fragility_table
from assay.leaderboard.ranks import ranking

from .builders import build
from .simulated import grid


def named(data: Correctness, names: list[str]) -> Correctness:
    return replace(data, models=tuple(names))


PAIRS = [f"{'abcd'[k // 2]}-{k}" for k in range(8)]


def test_families_are_held_out_in_turn() -> None:
    data = named(grid(8, 80, seed=1), PAIRS)
    found = compression(data, data.scope(POOLED), k=20, repeats=3)
    assert (found.folds, found.families, found.configurations) == (4, 4, 25)
    assert found.by_family
    assert "4 families of models held out in turn" in found.reading


def test_models_of_one_family_are_held_out_one_by_one() -> None:
    data = named(grid(4, 60, seed=1), [f"m-{k}" for k in range(4)])
    found = compression(data, data.scope(POOLED), k=10, repeats=2)
    assert found.folds == 4
    assert not found.by_family


def test_more_items_rank_smaller_gaps() -> None:
    data = named(grid(8, 600, seed=2), PAIRS)
    few, many = (compression(data, data.scope(POOLED), k=k, repeats=5) for k in (10, 200))
    assert (many.share_right > few.share_right + 0.03).all()
    assert (many.smallest_gap < few.smallest_gap).all()


def test_models_in_the_choice_would_flatter_it() -> None:
    # Models that answer at random have no ranking that items could carry over.
    rng = np.random.default_rng(3)
    found = []
    for _ in range(8):
        data = named(build(rng.random((8, 300, 5)) < 0.5), PAIRS)
        found.append(compression(data, data.scope(POOLED), k=40, repeats=4).share_right)
    assert np.mean(found, axis=0) == pytest.approx([0.5] * 3, abs=0.05)


def test_fragility_and_champions_are_those_of_the_whole_set() -> None:
    data = named(grid(8, 120, seed=4), PAIRS)
    found = compression(data, data.scope(POOLED), k=30, repeats=2)
    assert found.all_fragility == pytest.approx(fragility_table(data)["fragility"].mean())
    assert found.all_champions == len(ranking(data, data.scope(POOLED)).champions())
    # Items that tell models apart are near their ability, where configurations flip them too.
    assert found.fragility[0] > found.all_fragility + 0.05
    assert found.fragility[2] == pytest.approx(found.all_fragility, abs=0.1)
    assert found.unique_items + found.tied_items >= 30


@pytest.mark.parametrize(
    ("models", "items", "k", "why"),
    [(2, 60, 10, "it takes 3 models"), (4, 60, 56, "it takes 61 items")],
)
def test_too_little_is_unknown(models: int, items: int, k: int, why: str) -> None:
    data = grid(models, items, seed=5)
    found = compression(data, data.scope(POOLED), k=k)
    assert np.isnan([*found.share_right, *found.smallest_gap, found.all_fragility]).all()
    assert why in found.reading
    assert json.dumps(found.as_json())


def test_a_family_that_is_nearly_everything_cannot_be_held_out() -> None:
    data = named(grid(4, 60, seed=5), ["a-1", "a-2", "a-3", "b-1"])
    found = compression(data, data.scope(POOLED), k=10, repeats=2)
    assert found.folds == 1  # b only: without the a family one model would be left
    alone = compression(data, data.scope(POOLED), k=10, families={"a-3": "b"}, repeats=2)
    assert alone.folds == 2


def test_one_configuration_judges_under_itself() -> None:
    data = named(grid(8, 60, seed=6), PAIRS)
    one = build(data.values[:, :, [data.reference]], keys=["gen|f|p0"])
    found = compression(named(one, PAIRS), one.scope(POOLED), k=10, repeats=2)
    assert found.configurations == 1
    assert np.isfinite(found.share_right).all()


def test_no_choice_is_refused_and_the_table_has_a_row_a_rule() -> None:
    data = named(grid(8, 60, seed=7), PAIRS)
    with pytest.raises(AnalysisError):
        compression(data, data.scope(POOLED), k=0)
    found = compression(data, data.scope(POOLED), k=10, repeats=2)
    assert compression_table(found)["rule"].tolist() == ["discriminating", "stratified", "random"]
    again = compression(data, data.scope(POOLED), k=10, repeats=2)
    assert found.as_json() == again.as_json()


def test_many_models_are_held_out_in_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.leaderboard.compression._MOST_FOLDS", 3)
    data = grid(8, 80, seed=3)
    found = compression(data, data.scope(POOLED), k=20, repeats=2)
    assert found.folds == 3
    assert (found.share_right > 0.5).all()
