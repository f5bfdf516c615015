from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from assay.leaderboard.correctness import MISSING, Correctness
from assay.leaderboard.disagreement import (
    between_families,
    disagreement,
    flip_table,
    flips,
    within_families,
)
from support.twin import simulate

from .builders import GRID, build
from .grids import KEYS, WAYS, study


def test_flips_by_hand(tiny: Correctness) -> None:
    found = flips(tiny, tiny.scope("all"))
    assert found.configurations == GRID[1:]
    assert found.n.tolist() == [[4] * 4] * 3
    assert found.right_to_wrong.tolist() == [[1, 0, 1, 2], [0, 2, 2, 0], [0, 0, 0, 0]]
    assert found.wrong_to_right.tolist() == [[0, 0, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0]]
    assert found.forced[1].tolist() == [0, 0.5, 0.5, 0.25]
    # m00 at gen|f|p1: three of four right before, two after.
    assert found.expected[0, 0] == pytest.approx(0.75 * 0.5 + 0.25 * 0.5)
    assert found.corrected[0, 0] == pytest.approx(0.25 / 0.5)


def test_corrected_flips_are_one_minus_kappa() -> None:
    data = study(simulate([1.0, 0.0], items=80, rng=np.random.default_rng(0)))
    found = flips(data, data.scope("all"))
    for m, key in itertools.product(range(2), range(25)):
        column = data.configurations.index(
            next(way for way in data.configurations if way.key == found.configurations[key])
        )
        now, at = data.right[m, :, column], data.right[m, :, data.reference]
        table = [[np.sum(now & at), np.sum(now & ~at)], [np.sum(~now & at), np.sum(~now & ~at)]]
        kappa = cohens_kappa(np.array(table)).kappa
        assert found.corrected[m, key] == pytest.approx(1 - kappa, abs=1e-10)
        gap = (found.wrong_to_right - found.right_to_wrong)[m, key] / found.n[m, key]
        assert abs(gap) == pytest.approx(found.forced[m, key])


def test_a_missing_observation_is_no_flip() -> None:
    found = flips(build([[[1, MISSING, 0, 1, 1], [MISSING, 0, 0, 0, 0]]]), everything())
    assert found.n.tolist() == [[0, 1, 1, 1]]
    assert found.right_to_wrong.tolist() == [[0, 1, 0, 0]]
    assert np.isnan(found.share[0, 0])
    assert np.isnan(found.corrected[0, 0])


def everything():
    return build([[[1] * 5, [1] * 5]]).scope("all")


def test_flip_reading_and_table(tiny: Correctness) -> None:
    found = flips(tiny, tiny.scope("all"))
    assert "16.7 % of outcomes turn from right to wrong and 6.2 % from wrong to right" in (
        found.reading
    )
    assert "48 comparisons on 4 items" in found.reading
    assert len(flip_table(found)) == 12
    single = build([[[1], [0]]], keys=GRID[:1])
    assert "unknown" in flips(single, single.scope("all")).reading
    assert flip_table(flips(single, single.scope("all"))).empty


def test_disagreement_is_the_mean_over_pairs() -> None:
    """Against an enumeration of all pairs of configurations."""
    data = study(simulate([0.8], items=30, rng=np.random.default_rng(1)))
    found = disagreement(data, data.scope("all"))
    names = ["cloze" if way.scoring == "ll" else way.format for way in WAYS]
    across, within = {}, {}
    for (i, first), (j, second) in itertools.combinations(enumerate(names), 2):
        rate = float(np.mean(data.right[0, :, i] != data.right[0, :, j]))
        kind = within if first == second else across
        kind.setdefault(tuple(sorted((first, second))), []).append(rate)
    assert found.across[0].estimate == pytest.approx(
        np.mean([np.mean(rates) for rates in across.values()]), abs=1e-12
    )
    assert found.within[0].estimate == pytest.approx(
        np.mean([np.mean(rates) for rates in within.values()]), abs=1e-12
    )


def test_unrelated_outcomes_disagree_as_expected() -> None:
    rng = np.random.default_rng(0)
    data = study(rng.random((1, 4000, 26)) < 0.7)
    found = disagreement(data, data.scope("all"))
    assert found.across[0].estimate == pytest.approx(found.expected[0], abs=0.005)
    assert found.expected[0] == pytest.approx(0.42, abs=0.005)
    assert flips(data, data.scope("all")).corrected.mean() == pytest.approx(1, abs=0.02)


def test_it_does_not_grow_with_the_number_of_configurations() -> None:
    correct = simulate([1.0], items=3000, rng=np.random.default_rng(2))
    one_order = [k for k, key in enumerate(KEYS) if key.endswith("p0") or key == "ll|cloze_plain"]
    few, many = study(correct, columns=one_order), study(correct)
    means = [disagreement(data, data.scope("all")).across[0].estimate for data in (few, many)]
    assert means[0] == pytest.approx(means[1], abs=0.01)
    any_flip = [np.ptp(data.values[0], axis=1).mean() for data in (few, many)]
    assert any_flip[1] > any_flip[0] + 0.15


def test_one_family_disagrees_with_no_other() -> None:
    data = build([[[1, 0], [1, 1]]], keys=GRID[:2])
    found = disagreement(data, data.scope("all"))
    assert np.isnan(found.across[0].estimate)
    assert found.within[0].estimate == 0.5
    assert "unknown" in found.reading
    json.dumps(found.as_json(), allow_nan=False)
    assert np.isnan(between_families(np.ones((2, 1)))).all()
    assert np.isnan(within_families(np.ones((2, 2)), np.array([1, 1]))).all()


def test_reading_names_the_largest(tiny: Correctness) -> None:
    found = disagreement(tiny, tiny.scope("all"))
    worst = int(np.argmax([x.estimate for x in found.across]))
    assert f"m{worst:02d} is right one way only on" in found.reading
    assert "of 4 items" in found.reading


def test_coverage() -> None:
    rng = np.random.default_rng(3)
    big = study(simulate([1.0], items=40_000, rng=rng, interaction=0))
    truth = float(disagreement(big, big.scope("all")).across[0].estimate)
    missed = 0
    for run in range(300):
        rng = np.random.default_rng([run, 8])
        data = study(simulate([1.0], items=40, rng=rng, interaction=0))
        found = disagreement(data, data.scope("all")).across[0]
        missed += not found.low <= truth <= found.high
    assert missed < 26
