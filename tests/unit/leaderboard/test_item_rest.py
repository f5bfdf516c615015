from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.leaderboard.correctness import POOLED
from assay.leaderboard.discrimination import correlation, discrimination
from assay.leaderboard.item_rest import point_biserial, resampled_correlation

from .builders import build
from .simulated import KEYS, bits


@pytest.mark.parametrize("seed", range(3))
def test_point_biserial_is_that_of_scipy_against_the_rest(seed: int) -> None:
    right = (np.random.default_rng(seed).random((7, 30)) < 0.7).astype(int)
    found = point_biserial(right.astype(bool))
    for k in range(30):
        rest = right.sum(axis=1) - right[:, k]
        if np.ptp(right[:, k]) == 0 or np.ptp(rest) == 0:
            assert np.isnan(found[k])
        else:
            wanted = stats.pointbiserialr(right[:, k], rest).statistic
            assert found[k] == pytest.approx(wanted, abs=1e-12)


def test_the_item_itself_is_not_part_of_the_score() -> None:
    # Coins: with the whole score, items of one study correlate with themselves.
    right = np.random.default_rng(0).random((12, 3000)) < 0.5
    rest, whole = point_biserial(right[:, :20]), []
    for k in range(20):
        whole.append(stats.pointbiserialr(right[:, k], right[:, :20].sum(axis=1)).statistic)
    assert np.mean(whole) > np.mean(rest) + 0.1
    assert np.nanmean(
        [point_biserial(right[:, k : k + 20]).mean() for k in range(0, 3000, 20)]
    ) == pytest.approx(0, abs=0.03)


def test_resamples_are_those_of_items_drawn_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    right, other = rng.random((6, 15)) < 0.6, rng.random(15)
    other[4] = np.nan
    clusters = np.arange(15) // 2
    found = resampled_correlation(right, other, clusters=clusters, draws=30, seed=5)
    monkeypatch.setattr("assay.leaderboard.item_rest._CELLS", 60)
    blocks = resampled_correlation(right, other, clusters=clusters, draws=30, seed=5)
    assert blocks.tolist() == found.tolist()
    stream = np.random.default_rng([5, 53])
    for value in found:
        units = stream.integers(8, size=8)
        drawn = np.concatenate([np.flatnonzero(clusters == unit) for unit in units])
        pairs = []
        for k in drawn:
            rest = right[:, drawn[drawn != k]].sum(axis=1)
            if np.ptp(rest) and np.ptp(right[:, k].astype(int)) and np.isfinite(other[k]):
                pairs.append((np.corrcoef(right[:, k], rest)[0, 1], other[k]))
        assert value == pytest.approx(correlation(*np.array(pairs).T), abs=1e-10)


def test_few_units_have_no_resamples() -> None:
    right = np.eye(6, 12, dtype=bool)
    clusters = np.arange(12) % 5
    found = resampled_correlation(right, np.arange(12.0), clusters=clusters, draws=9, seed=0)
    assert found.size == 0


def test_intervals_cover_the_mean_of_the_estimates() -> None:
    population = bits(12, 20_000, seed=11)
    found = []
    for run in range(100):
        data = build(
            population[:, 200 * run : 200 * run + 200], keys=KEYS, reference="gen|letter_plain|p0"
        )
        found.append(discrimination(data, data.scope(POOLED), twin_draws=0, draws=200, seed=run))
    truth = np.mean([x.correlation for x in found])
    covered = sum(x.low <= truth <= x.high for x in found)
    assert covered >= 88  # fewer would be below 95 % with an error of one in a hundred
    assert np.mean([x.high - x.low for x in found]) < 0.45
