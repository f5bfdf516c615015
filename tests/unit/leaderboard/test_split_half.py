from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assay.leaderboard.correctness import POOLED
from assay.leaderboard.cube import Cube
from assay.leaderboard.split_half import SplitHalf, binomial_ceiling, split_half
from assay.stats.rank import kendall

from .builders import build
from .simulated import grid


def cube_of(values: np.ndarray) -> Cube:
    data = build(values)
    return Cube.of(data, data.scope(POOLED))


def test_one_split_by_hand() -> None:
    # Four items; whatever the split, halves of {0, 1, 2, 3} are compared by scipy.
    values = np.random.default_rng(0).integers(0, 2, (6, 4, 5))
    cube = cube_of(values)
    found = split_half(cube, splits=400, seed=1)
    taus = []
    for half in ([0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]):
        rest = [k for k in range(4) if k not in half]
        one, two = cube.right[:, half].sum(axis=1), cube.right[:, rest].sum(axis=1)
        tau = [stats.kendalltau(one[:, c], two[:, c]).statistic for c in range(5)]
        taus.append(np.nanmean(tau))
    assert found.ceiling == pytest.approx(np.mean(taus), abs=0.04)
    assert found.items == 2


def test_without_any_effect_of_configurations_only_the_items_limit_agreement() -> None:
    found = []
    for seed in range(6):
        data = grid(10, 300, seed=seed, effect=0.0, interaction=0.0)
        found.append(split_half(Cube.of(data, data.scope(POOLED)), splits=20, seed=seed))
    gap = np.mean([x.ceiling - x.across for x in found])
    assert gap == pytest.approx(0, abs=0.015)
    # The same items are answered alike, so that agreement on them is no measure of it.
    assert np.mean([x.same_items - x.ceiling for x in found]) > 0.02


def test_models_that_react_lower_the_agreement_across_configurations_only() -> None:
    data = grid(10, 600, seed=1, interaction=0.6)
    found = split_half(Cube.of(data, data.scope(POOLED)), splits=20, seed=1)
    assert found.ceiling - found.across > 0.2
    assert f"{found.ceiling:.2f} and with another at {found.across:.2f}" in found.reading


def test_clusters_stay_in_one_half() -> None:
    # Each item twice: with the copies in both halves a ranking would agree with itself.
    data = grid(8, 40, seed=2)
    values = np.repeat(data.values, 2, axis=1)
    copies = build(
        values, keys=[c.key for c in data.configurations], reference="gen|letter_plain|p0"
    )
    named = replace(
        copies,
        items=tuple(replace(x, cluster=f"c{k // 2:02d}") for k, x in enumerate(copies.items)),
    )
    whole, torn = (
        split_half(Cube.of(d, d.scope(POOLED)), splits=50, seed=0) for d in (named, copies)
    )
    once = split_half(Cube.of(data, data.scope(POOLED)), splits=50, seed=0)
    assert whole.ceiling == pytest.approx(once.ceiling, abs=1e-12)
    assert torn.ceiling > whole.ceiling + 0.05


def test_one_item_and_one_configuration() -> None:
    one = cube_of(np.ones((3, 1, 5)))
    assert np.isnan(split_half(one, splits=5, seed=0).ceiling)
    assert SplitHalf.unknown().reading == "the ceiling of tau is unknown"
    data = build(np.random.default_rng(1).integers(0, 2, (4, 30, 1)), keys=["gen|f|p0"])
    found = split_half(Cube.of(data, data.scope(POOLED)), splits=5, seed=0)
    assert np.isnan(found.across)
    assert "with another" not in found.reading


def test_binomial_ceiling_is_the_mean_tau_of_two_samples() -> None:
    accuracy = np.array([0.4, 0.5, 0.6])
    # All outcomes of two samples of three models with two items each.
    chance = stats.binom.pmf(np.arange(3)[:, None], 2, accuracy).T
    cells = np.array(np.meshgrid(*[range(3)] * 6, indexing="ij")).reshape(6, -1)
    total, mass = 0.0, 0.0
    for cell in cells.T:
        weight = np.prod([chance[k % 3, x] for k, x in enumerate(cell)])
        if np.ptp(cell[:3]) and np.ptp(cell[3:]):
            total += weight * kendall(cell[:3], cell[3:]).statistic
            mass += weight
    found = binomial_ceiling(accuracy, 2, splits=20_000, seed=1)
    assert found == pytest.approx(total / mass, abs=0.015)
    assert np.isnan(binomial_ceiling(np.array([1.0, 1.0]), 10))


def test_much_of_what_slab_prompts_change_is_sampling(shared: Path) -> None:
    # Published: a mean tau of .686 between prompts; cells are of about 100 items.
    table = pd.read_csv(
        shared / "data/peers/slab_multiprompt_accuracies.csv.gz", dtype={"manually_correct": str}
    )
    default = table[(table["suite"] == "BBH") & table["is_default"]]
    ceilings = [
        binomial_ceiling(task.drop_duplicates("model")["accuracy"].to_numpy(), 100, splits=100)
        for _, task in default.groupby("task")
    ]
    assert 0.686 < np.mean(ceilings) < 0.9
