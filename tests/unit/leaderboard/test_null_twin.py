from __future__ import annotations

import numpy as np
import pytest

from assay.leaderboard import null_twin
from assay.leaderboard.correctness import MISSING, Correctness
from assay.leaderboard.null_twin import NullTwin, disagreement
from support.twin import CONFIGURATIONS, simulate

from .builders import build, twin_bands

KEYS = tuple(configuration.key for configuration in CONFIGURATIONS)
REFERENCE = "gen|letter_plain|p0"


def leaderboard(right: np.ndarray) -> Correctness:
    return build(right.astype(int), keys=KEYS, reference=REFERENCE)


def families() -> np.ndarray:
    return np.array([configuration.family for configuration in CONFIGURATIONS])


def test_disagreement_by_hand() -> None:
    right = np.array([[[1, 0, 1, 1]]], bool)
    between, within = disagreement(np.ones_like(right), right, np.array([0, 0, 1, 1]))
    assert (between, within) == (0.5, 0.5)
    between, within = disagreement(np.ones_like(right), right, np.array([0, 1, 2, 3]))
    assert between == 0.5
    assert np.isnan(within)


def test_the_twin_flips_as_often_as_the_data() -> None:
    right = simulate([0, 0.4, 0.8], items=300, rng=np.random.default_rng(2))
    twin = NullTwin(leaderboard(right), seed=0)
    drawn = [disagreement(np.ones_like(d), d, families()) for d in twin.draws(20)]
    observed = disagreement(np.ones_like(right), right, families())
    assert np.mean(drawn, axis=0) == pytest.approx(observed, abs=0.005)
    # In the generator half of the noise variance is shared within a family, none beyond it.
    assert twin.correlations[0].between == pytest.approx(0, abs=0.05)
    assert twin.correlations[0].within == pytest.approx(0.5, abs=0.05)


def test_a_large_leaderboard_is_fitted_to_some_of_its_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = simulate(np.linspace(0, 1, 12), items=150, rng=np.random.default_rng(6))
    monkeypatch.setattr(null_twin, "_MOST_CELLS", 4 * right[0].size)
    fitted: list[int] = []
    fit = null_twin.fit_additive
    monkeypatch.setattr(
        null_twin,
        "fit_additive",
        lambda some, present: fitted.append(len(some)) or fit(some, present),
    )
    drawn = list(NullTwin(leaderboard(right), seed=0).draws(20))
    assert fitted == [4]
    # Every model has its own accuracy all the same.
    accuracy = np.mean([draw.mean(axis=(1, 2)) for draw in drawn], axis=0)
    assert accuracy == pytest.approx(right.mean(axis=(1, 2)), abs=0.02)
    observed = disagreement(np.ones_like(right), right, families())
    turned = [disagreement(np.ones_like(d), d, families()) for d in drawn]
    assert np.mean(turned, axis=0) == pytest.approx(observed, abs=0.02)


def test_same_seed_same_draws_and_missing_stays_missing() -> None:
    values = simulate([0, 1], items=20, rng=np.random.default_rng(3)).astype(int)
    values[0, 4, 7] = MISSING
    data = build(values, keys=KEYS, reference=REFERENCE)
    first, again, other = (next(NullTwin(data, seed=s).draws(1)) for s in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not any(draw[0, 4, 7] for draw in NullTwin(data, seed=1).draws(30))


def test_one_configuration_per_item_has_nothing_to_disagree() -> None:
    data = build(np.ones((2, 5, 1)), keys=("gen|f|p0",))
    band = twin_bands(data, draws=5, seed=0)[0].headlines["any_flip"]
    assert np.isnan([band.value, band.twin, band.low, band.high]).all()


def test_bands_hold_headlines_without_interaction_and_betray_it() -> None:
    """Rank headlines: few false alarms without interaction, many alarms with it."""
    alarms = {0.0: 0, 0.5: 0}
    for interaction in alarms:
        for run in range(12):
            rng = np.random.default_rng([run, 9])
            right = simulate(0.1 * np.arange(8), items=150, rng=rng, interaction=interaction)
            band = twin_bands(leaderboard(right), draws=40, seed=run)[0].headlines["largest_move"]
            alarms[interaction] += band.value > band.high
    assert alarms[0.0] <= 2
    assert alarms[0.5] >= 7


def test_the_twin_explains_why_fragile_items_carry_the_gaps() -> None:
    right = simulate(0.2 * np.arange(6), items=200, rng=np.random.default_rng(4), interaction=0)
    found = twin_bands(leaderboard(right), draws=20, seed=0)[0]
    share = found.headlines["fragile_share_of_gap"]
    assert share.value > 0.95
    assert share.twin > 0.95
    assert found.headlines["any_flip"].value == pytest.approx(
        found.headlines["any_flip"].twin, abs=0.02
    )
    assert len(found.pair_shares) == 5
    assert all(share > 0.9 for share in found.pair_shares)
