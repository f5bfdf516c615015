from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.stats.calibration import calibration


def stated_and_hits(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    stated = rng.beta(4, 2, n).round(2)
    return stated, rng.random(n) < stated


def test_ece_and_bins_equal_a_loop_over_bins() -> None:
    stated, hits = stated_and_hits(400, 1)
    found = calibration(stated, hits, bins=10)
    total = 0.0
    for k in range(10):
        low, high = k / 10, (k + 1) / 10
        inside = (stated <= high) & ((stated > low) | ((k == 0) & (stated == 0)))
        assert found.count[k] == inside.sum()
        if inside.any():
            assert found.confidence[k] == pytest.approx(stated[inside].mean())
            assert found.accuracy.estimate[k] == pytest.approx(hits[inside].mean())
            total += inside.mean() * abs(hits[inside].mean() - stated[inside].mean())
        else:
            assert np.isnan([found.confidence[k], found.accuracy.estimate[k]]).all()
    assert found.ece == pytest.approx(total, abs=1e-12)


def test_ends_of_the_scale_fall_in_the_end_bins() -> None:
    with pytest.warns(RuntimeWarning):
        found = calibration([0.0, 1.0], [0, 1], bins=3)
    assert found.count.tolist() == [1, 0, 1]
    assert found.ece == 0


def test_auroc_counts_pairs_and_ties_half() -> None:
    stated, hits = stated_and_hits(60, 2)
    pairs = itertools.product(stated[hits], stated[~hits])
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs]
    found = calibration(stated, hits).auroc
    assert found.estimate == pytest.approx(np.mean(wins), abs=1e-12)
    wanted = stats.mannwhitneyu(stated[hits], stated[~hits]).statistic / len(wins)
    assert found.estimate == pytest.approx(wanted, abs=1e-12)


def test_auroc_variance_is_delongs_but_for_degrees_of_freedom() -> None:
    stated, hits = stated_and_hits(300, 3)
    found = calibration(stated, hits).auroc
    beats = np.sign(stated[hits][:, None] - stated[~hits]) / 2 + 0.5
    error = np.sqrt(
        beats.mean(axis=1).var(ddof=1) / hits.sum() + beats.mean(axis=0).var(ddof=1) / (~hits).sum()
    )
    reach = stats.t.ppf(0.975, 299) * error / (found.estimate * (1 - found.estimate))
    logit = np.log([x / (1 - x) for x in (found.low, found.estimate, found.high)])
    assert logit[2] - logit[1] == pytest.approx(reach, rel=0.01)
    assert logit[1] - logit[0] == pytest.approx(reach, rel=0.01)


def test_brier_interval_is_the_t_interval_of_the_losses() -> None:
    stated, hits = stated_and_hits(50, 4)
    losses = (stated - hits) ** 2
    found = calibration(stated, hits, level=0.9).brier
    wanted = stats.ttest_1samp(losses, 0).confidence_interval(0.9)
    assert found.estimate == pytest.approx(losses.mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-10)


def test_duplicated_items_in_one_cluster_add_no_certainty() -> None:
    stated, hits = stated_and_hits(80, 5)
    once = calibration(stated, hits)
    twice = calibration(np.tile(stated, 2), np.tile(hits, 2), clusters=np.tile(np.arange(80), 2))
    for name in ("brier", "auroc"):
        one, two = getattr(once, name), getattr(twice, name)
        assert (two.low, two.high) == pytest.approx((one.low, one.high), abs=1e-10)
    assert once.ece == pytest.approx(twice.ece, abs=1e-12)


@pytest.mark.filterwarnings("ignore:the interval of the AUROC")
@pytest.mark.parametrize("n", [20, 300])
def test_calibrated_probabilities_have_the_ece_that_is_said(n: int) -> None:
    rng = np.random.default_rng(6)
    stated = rng.beta(4, 2, n)
    found = [calibration(stated, rng.random(n) < stated) for _ in range(200)]
    eces = np.array([each.ece for each in found])
    error = eces.std() / np.sqrt(200)
    assert abs(eces.mean() - found[0].ece_if_calibrated) < 4 * error + 0.02 * eces.mean()
    assert found[0].ece_if_calibrated > 0.02


def test_miscalibration_is_found_at_the_promised_rate() -> None:
    rng = np.random.default_rng(7)
    stated = rng.beta(4, 2, 200)
    right = [calibration(stated, rng.random(200) < stated) for _ in range(300)]
    wrong = [calibration(stated, rng.random(200) < stated - 0.1) for _ in range(100)]
    assert np.mean([each.miscalibration.p_value <= 0.05 for each in right]) <= 0.083
    assert np.mean([each.miscalibration.p_value <= 0.05 for each in wrong]) >= 0.5


def test_intervals_cover_as_promised() -> None:
    rng = np.random.default_rng(8)
    covered = []
    for _ in range(300):
        stated = rng.uniform(size=60)
        hits = rng.random(60) < stated
        found = calibration(stated, hits)
        # Of uniform p: E p(1-p) = 1/6; P(p1 > p2 | hit, miss) = 5/6.
        covered.append(
            (
                found.brier.low <= 1 / 6 <= found.brier.high,
                found.auroc.low <= 5 / 6 <= found.auroc.high,
            )
        )
    assert np.all(np.mean(covered, axis=0) >= 0.92)


def test_one_class_has_no_auroc() -> None:
    with pytest.warns(RuntimeWarning, match="all outcomes are equal"):
        found = calibration(np.linspace(0.1, 0.9, 10), np.ones(10))
    assert np.isnan([found.auroc.estimate, found.auroc.low, found.auroc.high]).all()


def test_perfect_separation_has_no_auroc_interval() -> None:
    with pytest.warns(RuntimeWarning, match="interval of the AUROC is undefined"):
        found = calibration(np.linspace(0.1, 0.9, 10), np.arange(10) >= 5)
    assert found.auroc.estimate == 1
    assert np.isnan([found.auroc.low, found.auroc.high]).all()


def test_certainty_cannot_be_tested() -> None:
    with pytest.warns(RuntimeWarning, match="cannot be tested"):
        found = calibration([0, 1] * 10, [0, 1] * 9 + [1, 0])
    assert np.isnan(found.miscalibration.p_value)


def test_few_clusters_give_no_interval() -> None:
    stated, hits = stated_and_hits(60, 9)
    with pytest.warns(RuntimeWarning, match="5 units"):
        found = calibration(stated, hits, clusters=np.arange(60) % 5)
    assert np.isnan([found.brier.low, found.auroc.high]).all()
    assert 0 < found.brier.estimate < 1


@pytest.mark.parametrize(
    ("stated", "hits", "options"),
    [
        ([80.0], [1], {}),
        ([np.nan], [1], {}),
        ([0.5], [2], {}),
        ([0.5], [np.nan], {}),
        ([0.5, 0.5], [1], {}),
        ([], [], {}),
        ([0.5], [1], {"bins": 0}),
        ([0.5], [1], {"level": 95}),
    ],
)
def test_unusable_input_is_refused(stated: list, hits: list, options: dict) -> None:
    with pytest.raises(AnalysisError):
        calibration(stated, hits, **options)
