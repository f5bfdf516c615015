from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import MISSING, Correctness
from assay.leaderboard.permutation_null import permutation_null, permutation_table
from assay.leaderboard.permuted_axes import axis_cells
from support.twin import simulate

from .builders import GRID, build
from .grids import KEYS, study

RUNS, TOO_MANY = 300, 26


def g(items: int, seed: int, *, effect: float = 0.0, interaction: float = 0.0) -> Correctness:
    rng = np.random.default_rng([seed, items])
    correct = simulate(
        [1.4, 1.0, 0.6], items=items, rng=rng, effect=effect, interaction=interaction
    )
    return study(correct, gold=rng.integers(4, size=items))


def test_the_levels_of_each_axis() -> None:
    data = g(30, 0)
    scope = data.scope("all")
    found = {
        axis: permutation_null(data, scope, axis=axis, draws=2, seed=0)
        for axis in ("order", "format", "scoring", "family")
    }
    assert found["order"].levels == tuple(f"position {k}" for k in (1, 2, 3, 4))
    assert found["format"].levels == ("digit_labels", "instruction", "letter_paren", "letter_plain")
    assert found["scoring"].levels == ("generation", "likelihood")
    assert found["family"].levels == ("cloze", *found["format"].levels)
    right = data.right
    generated = np.array([way.scoring == "gen" for way in data.configurations])
    for m in range(3):
        families = [
            right[m][:, [way.format == name for way in data.configurations]].mean()
            for name in found["format"].levels
        ]
        assert found["format"].accuracy[m] == pytest.approx(families)
        cloze = right[m][:, ~generated].mean()
        assert found["family"].accuracy[m] == pytest.approx([cloze, *families])
        assert found["scoring"].accuracy[m] == pytest.approx([np.mean(families), cloze])
        positions = [right[m][data.gold_slots == slot].mean() for slot in range(4)]
        assert found["order"].accuracy[m] == pytest.approx(positions)


def test_many_draws_agree_with_all_permutations() -> None:
    """Two models, three items, three formats in one order: all 6**3 permutations."""
    keys = ("gen|f|p0", "gen|g|p0", "gen|h|p0")
    values = np.random.default_rng(5).integers(0, 2, (2, 3, 3))
    data = build(values, keys=keys)
    found = permutation_null(data, data.scope("all"), axis="format", draws=4000, seed=0)
    ranges, champions = [], []
    for orders in itertools.product(itertools.permutations(range(3)), repeat=3):
        mixed = np.stack([values[:, i, list(order)] for i, order in enumerate(orders)], axis=1)
        accuracy = mixed.mean(axis=1)
        ranges.append(np.ptp(accuracy, axis=1).max())
        champions.append(sum(bool((a >= accuracy.max(axis=0)).any()) for a in accuracy))
    band, lead = found.headlines["accuracy_range"], found.headlines["champions"]
    observed = np.ptp(values.mean(axis=1), axis=1).max()
    assert band.value == pytest.approx(observed)
    assert band.null == pytest.approx(np.mean(ranges), abs=0.015)
    assert band.p_value == pytest.approx(np.mean(np.array(ranges) >= observed - 1e-9), abs=0.03)
    assert lead.null == pytest.approx(np.mean(champions), abs=0.03)


def test_a_position_bias_is_an_effect_of_order_by_position_only() -> None:
    data = g(80, 1)
    first = data.gold_slots == 0
    values = np.where(first & (np.random.default_rng(0).random(first.shape) < 0.5), 1, data.values)
    biased = replace(data, values=values.astype(np.uint8))
    scope = biased.scope("all")
    order = permutation_null(biased, scope, axis="order", draws=199, seed=0)
    form = permutation_null(biased, scope, axis="format", draws=199, seed=0)
    assert order.headlines["accuracy_range"].p_value == 0.005
    assert form.headlines["accuracy_range"].p_value > 0.05
    assert "Along the position of the right option (4 levels, 80 items)" in order.reading


def test_same_seed_same_numbers_whatever_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    data = g(40, 2, interaction=0.3)
    scope = data.scope("all")
    first = permutation_null(data, scope, axis="family", draws=60, seed=3)
    monkeypatch.setattr("assay.leaderboard.permutation_null._BLOCK", 1)
    assert permutation_null(data, scope, axis="family", draws=60, seed=3).as_json() == (
        first.as_json()
    )
    other = permutation_null(data, scope, axis="family", draws=60, seed=4)
    assert other.headlines["accuracy_range"] != first.headlines["accuracy_range"]


def test_only_cells_that_all_models_share_take_part() -> None:
    values = np.ones((2, 5, 5), int)
    values[0, 2, 3] = MISSING
    data = build(values)
    assert axis_cells(data, data.scope("all"), "format").items == 4
    assert permutation_null(data, data.scope("all"), axis="family", draws=1, seed=0).items == 4


@pytest.mark.parametrize("axis", ["order", "format", "scoring", "family"])
def test_an_axis_that_does_not_vary_is_unknown(axis: str) -> None:
    for data in (
        build([[[1], [0]]], keys=GRID[:1]),
        build([[[MISSING] * 5]]),
        study(np.ones((1, 4, 26), bool), columns=[KEYS.index("gen|letter_plain|p0")], gold=[0] * 4),
    ):
        found = permutation_null(data, data.scope("all"), axis=axis, draws=3, seed=0)
        assert np.isnan([band.value for band in found.headlines.values()]).all()
        assert "unknown" in found.reading
        json.dumps(found.as_json(), allow_nan=False)


def test_options_are_checked() -> None:
    data = g(10, 0)
    with pytest.raises(AnalysisError, match="unknown axis"):
        permutation_null(data, data.scope("all"), axis="model", seed=0)  # type: ignore[arg-type]
    with pytest.raises(AnalysisError, match="at least one draw"):
        permutation_null(data, data.scope("all"), axis="order", draws=0, seed=0)


def test_table() -> None:
    data = g(20, 0)
    found = permutation_null(data, data.scope("all"), axis="scoring", draws=5, seed=0)
    table = permutation_table(found)
    assert table["headline"].tolist() == [
        "champions",
        "largest_move",
        "smallest_tau",
        "accuracy_range",
    ]


class TestErrorRates:
    @pytest.mark.parametrize("axis", [pytest.param("order", marks=pytest.mark.slow), "format"])
    def test_exchangeable_levels_are_rarely_extreme(self, axis: str) -> None:
        """Without effects formats are exchangeable within an item, and so are positions."""
        wrong = dict.fromkeys(("champions", "largest_move", "smallest_tau", "accuracy_range"), 0)
        for run in range(RUNS):
            data = g(30, run)
            scope = data.scope("all")
            found = permutation_null(data, scope, axis=axis, draws=39, seed=run)  # type: ignore[arg-type]
            for name, band in found.headlines.items():
                wrong[name] += band.p_value <= 0.05
        assert max(wrong.values()) < TOO_MANY, wrong

    def test_clusters_are_exchanged_together(self) -> None:
        wrong = 0
        for run in range(RUNS):
            rng = np.random.default_rng([run, 6])
            correct = np.repeat(
                simulate([1.0, 0.6], items=20, rng=rng, interaction=0, effect=0), 4, 1
            )
            data = study(correct, clusters=np.repeat(np.arange(20), 4))
            null = permutation_null(data, data.scope("all"), axis="format", draws=39, seed=run)
            wrong += null.headlines["accuracy_range"].p_value <= 0.05
        assert wrong < TOO_MANY

    def test_effects_are_found(self) -> None:
        found = 0
        for run in range(40):
            data = g(60, run, interaction=0.3)
            null = permutation_null(data, data.scope("all"), axis="family", draws=99, seed=run)
            found += null.headlines["accuracy_range"].p_value <= 0.05
        assert found >= 25
