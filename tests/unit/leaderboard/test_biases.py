from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.biases import label_bias, label_bias_table
from assay.leaderboard.correctness import Correctness
from assay.records.schema import STATUSES

from .grids import KEYS, study

PLAIN = [k for k, key in enumerate(KEYS) if key.startswith("gen|letter_plain")]


def plain(seed: int, items: int, *, bias: float = 0.0, orders: int = 6) -> Correctness:
    """Return a model that is right with probability .7, and more so where A is right."""
    rng = np.random.default_rng([seed, items])
    gold = rng.integers(4, size=items)
    blank = study(np.zeros((1, items, 26), bool), gold=gold, columns=PLAIN[:orders])
    share = rng.beta(2.1, 0.9, (items, 1))  # one item's orders go together; mean .7
    right = rng.random((items, orders)) < share + bias * (blank.gold_slots == 0)
    return replace(blank, values=right[None].astype(np.uint8))


def test_rstd_by_hand() -> None:
    data = plain(0, 200)
    found = label_bias(data, data.scope("all"), draws=20, seed=0)
    recalls = [data.right[0][data.gold_slots == slot].mean() for slot in range(4)]
    assert found.rstd[0, 0] == pytest.approx(np.std(recalls))
    assert found.formats == ("letter_plain",)
    assert (found.labels, found.items[0, 0]) == (4, 200)


def test_an_unbiased_model_has_four_points_at_300_items() -> None:
    means = []
    for seed in range(5):
        data = plain(seed, 300, orders=1)
        means.append(label_bias(data, data.scope("all"), draws=200, seed=0).unbiased[0, 0])
    assert np.mean(means) == pytest.approx(0.042, abs=0.003)


def test_a_preference_is_found_and_said() -> None:
    data = plain(1, 300, bias=0.2)
    found = label_bias(data, data.scope("all"), seed=0)
    assert found.p_adjusted[0, 0] <= 0.05
    assert found.rstd[0, 0] > 2 * found.unbiased[0, 0]
    assert "1 of 1 pair of a model and a format spread more than chance" in found.reading
    json.dumps(found.as_json(), allow_nan=False)
    assert label_bias_table(found)["n"].tolist() == [300]


def test_same_seed_same_numbers() -> None:
    data = plain(2, 100)
    first, second, other = (
        label_bias(data, data.scope("all"), draws=100, seed=seed) for seed in (1, 1, 2)
    )
    assert first.as_json() == second.as_json()
    assert first.unbiased[0, 0] != other.unbiased[0, 0]


def test_too_few_permutations_for_so_many_pairs_are_said() -> None:
    data = plain(2, 100)
    few, enough = (label_bias(data, data.scope("all"), draws=d, seed=1) for d in (10, 200))
    assert "10 permutations cannot show it for so many" in few.reading
    assert "cannot show" not in enough.reading
    assert (few.p_adjusted > few.alpha).all()


def test_models_are_computed_alone_or_together_alike() -> None:
    rng = np.random.default_rng(0)
    data = study(rng.random((40, 30, 26)) < 0.7, columns=PLAIN)
    together = label_bias(data, data.scope("all"), draws=50, seed=0)
    for m in (0, 35):
        alone = replace(
            data,
            models=data.models[m : m + 1],
            values=data.values[m : m + 1],
            statuses=data.statuses[m : m + 1],
        )
        found = label_bias(alone, alone.scope("all"), draws=50, seed=0)
        assert found.p_value[0, 0] == together.p_value[m, 0]
        assert found.unbiased[0, 0] == pytest.approx(together.unbiased[m, 0], abs=1e-12)


def test_unusable_answers_are_no_wrong_labels() -> None:
    data = plain(3, 200)
    statuses = data.statuses.copy()
    statuses[0, :50] = STATUSES.index("none")
    values = np.where(statuses == STATUSES.index("none"), 0, data.values)
    cut = replace(data, statuses=statuses, values=values.astype(np.uint8))
    found = label_bias(cut, cut.scope("all"), draws=20, seed=0)
    recalls = [data.right[0, 50:][data.gold_slots[50:] == slot].mean() for slot in range(4)]
    assert found.rstd[0, 0] == pytest.approx(np.std(recalls))
    assert found.items[0, 0] == 150


def test_one_label_is_no_spread() -> None:
    data = study(np.ones((1, 30, 26), bool), gold=[0] * 30, columns=PLAIN[:1])
    found = label_bias(data, data.scope("all"), draws=10, seed=0)
    assert np.isnan(found.rstd[0, 0])
    assert "unknown" in found.reading
    json.dumps(found.as_json(), allow_nan=False)


@pytest.mark.parametrize("option", [{"alpha": 0}, {"draws": 0}])
def test_options_are_checked(option: dict[str, float]) -> None:
    data = plain(0, 20)
    with pytest.raises(AnalysisError):
        label_bias(data, data.scope("all"), seed=0, **option)


@pytest.mark.parametrize(("items", "orders"), [(40, 1), (60, 6)])
def test_unbiased_models_are_rarely_called_biased(items: int, orders: int) -> None:
    wrong = 0
    for run in range(300):
        data = plain(run, items, orders=orders)
        wrong += label_bias(data, data.scope("all"), draws=99, seed=run).p_value[0, 0] <= 0.05
    assert wrong < 26
