from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.reactions import reaction_table, reactions
from support.twin import simulate

from .grids import study

RUNS, TOO_MANY = 300, 26


def g(models: int, items: int, seed: int, interaction: float, effect: float = 1.0) -> Correctness:
    theta = np.linspace(1.6, 0.2, models)
    rng = np.random.default_rng([seed, models, items])
    return study(simulate(theta, items=items, rng=rng, interaction=interaction, effect=effect))


def test_the_deviation_is_that_of_the_generator() -> None:
    """On the probit scale the latent step is divided by the spread of everything else."""
    rng = np.random.default_rng(0)
    correct = simulate([1.0, 0.0], items=30_000, rng=rng, interaction=0)
    shifted = study(correct)
    found = reactions(shifted, shifted.scope("all"))
    assert np.abs(found.deviation).max() < 0.02
    accuracy = np.array([[0.7, 0.5], [0.6, 0.5]])
    drawn = study(
        np.stack(
            [
                np.where(
                    np.arange(26) < 24,
                    rng.random((20_000, 26)) < row[0],
                    rng.random((20_000, 26)) < row[1],
                )
                for row in accuracy
            ]
        )
    )
    found = reactions(drawn, drawn.scope("all"))
    probit = stats.norm.ppf(accuracy)
    step = (probit[0, 0] - probit[0, 1]) - (probit[1, 0] - probit[1, 1])
    # Four families have the one accuracy and cloze the other.
    wanted = [-0.8 * step, *[0.2 * step] * 4]
    assert found.deviation[0] == pytest.approx(wanted, abs=0.02)
    assert found.deviation[1] == pytest.approx(-found.deviation[0])


@pytest.mark.parametrize(
    ("models", "items"), [(2, 60), pytest.param(5, 240, marks=pytest.mark.slow)]
)
def test_effects_that_all_models_share_are_rarely_called_reactions(models: int, items: int) -> None:
    wrong = 0
    for run in range(RUNS):
        data = g(models, items, run, interaction=0)
        wrong += bool((reactions(data, data.scope("all")).p_adjusted <= 0.05).any())
    assert wrong < TOO_MANY


def test_clusters_are_the_units() -> None:
    wrong = 0
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        correct = np.repeat(simulate([1.0, 0.5], items=40, rng=rng, interaction=0), 4, axis=1)
        data = study(correct, clusters=np.repeat(np.arange(40), 4))
        wrong += bool((reactions(data, data.scope("all")).p_adjusted <= 0.05).any())
    assert wrong < TOO_MANY


def test_reactions_are_found() -> None:
    found = 0
    for run in range(40):
        data = g(5, 240, run, interaction=0.3)
        found += bool((reactions(data, data.scope("all")).p_adjusted <= 0.05).any())
    assert found >= 38


def test_what_cannot_be_told_is_unknown() -> None:
    rng = np.random.default_rng(0)
    cases = [
        simulate([1.0], items=60, rng=rng),
        simulate([1.0, 0.0], items=15, rng=rng),
        np.ones((2, 60, 26), bool),
    ]
    for correct in cases:
        data = study(correct)
        found = reactions(data, data.scope("all"))
        assert np.isnan(found.p_value).all()
        assert "cannot be told" in found.reading
        json.dumps(found.as_json(), allow_nan=False)


def test_reading_and_table() -> None:
    data = g(3, 240, 1, interaction=0.5)
    found = reactions(data, data.scope("all"))
    assert "of 3 models react" in found.reading
    assert "240 items" in found.reading
    table = reaction_table(found)
    assert len(table) == 15
    assert table.groupby("model")["deviation"].sum().abs().max() < 1e-12
    with pytest.raises(AnalysisError, match="alpha"):
        reactions(data, data.scope("all"), alpha=0.5)
