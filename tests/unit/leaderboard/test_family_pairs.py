from __future__ import annotations

import json

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.family_pairs import family_pair_table, family_pairs
from assay.stats.clusters import clustered_difference
from assay.stats.multiplicity import adjust_p
from support.twin import CONFIGURATIONS, simulate

from .grids import study

RUNS, TOO_MANY = 300, 26


def g(theta: list[float], items: int, *seed: int, interaction: float = 0.0) -> Correctness:
    rng = np.random.default_rng(seed)
    return study(simulate(theta, items=items, rng=rng, interaction=interaction))


def crossing(items: int, seed: int) -> Correctness:
    """Return two models, each a point better on the latent scale in its own families."""
    rng = np.random.default_rng(seed)
    shift = np.array([1.0 if way.family in (0, 1, 2) else -1.0 for way in CONFIGURATIONS])
    noise = rng.normal(0, 1, (2, items, len(CONFIGURATIONS)))
    ability = 0.5 * np.stack([shift, -shift])[:, None]
    return study(ability - rng.normal(0, 1, (1, items, 1)) + noise > 0)


def test_everywhere_is_the_worst_one_sided_test() -> None:
    data = g([1.4, 0.4, 0.9], 80, 1, interaction=0.3)
    found = family_pairs(data, data.scope("all"))
    for k, (first, second) in enumerate(zip(found.first, found.second, strict=True)):
        a, b = data.models.index(first), data.models.index(second)
        p_values = []
        for name in found.families:
            along = [
                c
                for c, way in enumerate(data.configurations)
                if way.format == name or (name == "cloze" and way.scoring == "ll")
            ]
            lead = data.right[a][:, along].mean(axis=1) - data.right[b][:, along].mean(axis=1)
            test = clustered_difference(lead, alternative="greater")
            p_values.append(test.p_value)
            assert found.gap[k, found.families.index(name)] == pytest.approx(lead.mean())
        assert found.p_first[k] == pytest.approx(p_values)
        if max(p_values) < 0.5:
            assert found.everywhere_p[k] == pytest.approx(2 * max(p_values))
    assert found.everywhere_adjusted.tolist() == adjust_p(found.everywhere_p).p_values.tolist()


def test_an_order_that_flips_is_found() -> None:
    data = crossing(200, 0)
    found = family_pairs(data, data.scope("all"))
    assert found.verdict == ("order flips",)
    assert found.flip_p[0] < 0.001
    assert found.everywhere_p[0] > 0.5
    assert "in 1 the order flips between families" in found.reading
    table = family_pair_table(found)
    assert len(table) == 5
    assert set(table["verdict"]) == {"order flips"}


def test_a_clear_lead_is_better_everywhere() -> None:
    data = g([2.0, 0.5], 200, 2)
    found = family_pairs(data, data.scope("all"))
    assert found.verdict == ("better everywhere",)
    assert found.first == ("m00",)
    assert (found.low > 0).all()
    assert "In 1 of 1 pair one model is better in every one of 5 families" in found.reading
    json.dumps(found.as_json(), allow_nan=False)


def test_five_clusters_decide_nothing() -> None:
    correct = simulate([3.0, -2.0], items=50, rng=np.random.default_rng(0))
    data = study(correct, clusters=[i % 5 for i in range(50)])
    found = family_pairs(data, data.scope("all"))
    assert found.gap.min() > 0.2
    assert np.isnan(found.everywhere_p).all()
    assert np.isnan(found.flip_p).all()
    assert found.verdict == ("unresolved",)
    assert "too few independent items" in found.reading


def test_one_model_has_no_pairs() -> None:
    data = g([1.0], 30, 0)
    found = family_pairs(data, data.scope("all"))
    assert found.gap.shape == (0, 5)
    assert "one model" in found.reading
    assert family_pair_table(found).empty


def test_models_that_always_agree_are_unresolved() -> None:
    one = simulate([1.0], items=40, rng=np.random.default_rng(0))
    data = study(np.repeat(one, 2, axis=0))
    found = family_pairs(data, data.scope("all"))
    assert found.verdict == ("unresolved",)
    assert (found.gap == 0).all()
    json.dumps(found.as_json(), allow_nan=False)


def test_alpha_is_checked() -> None:
    data = g([1.0, 1.0], 10, 0)
    with pytest.raises(AnalysisError, match="alpha"):
        family_pairs(data, data.scope("all"), alpha=0.6)


class TestErrorRates:
    @pytest.mark.parametrize("items", [30, 120])
    def test_equal_models_are_rarely_better_everywhere_or_flipped(self, items: int) -> None:
        everywhere = flips = 0
        for run in range(RUNS):
            data = g([1.0, 1.0], items, run, items)
            verdict = family_pairs(data, data.scope("all")).verdict[0]
            everywhere += verdict == "better everywhere"
            flips += verdict == "order flips"
        assert everywhere < TOO_MANY
        assert flips < TOO_MANY

    def test_equal_in_one_family_is_rarely_better_everywhere(self) -> None:
        """The least favourable null: far ahead everywhere but in one family."""
        wrong = 0
        ahead = np.array([0.0 if way.family == 4 else 3.0 for way in CONFIGURATIONS])
        for run in range(RUNS):
            rng = np.random.default_rng([run, 9])
            noise = rng.normal(0, 1, (2, 60, len(CONFIGURATIONS)))
            ability = np.stack([ahead, np.zeros(len(CONFIGURATIONS))])[:, None]
            data = study(ability - rng.normal(0, 1.5, (1, 60, 1)) + noise > 0)
            wrong += family_pairs(data, data.scope("all")).verdict[0] == "better everywhere"
        assert wrong < TOO_MANY

    def test_power(self) -> None:
        flips = sum(
            family_pairs(data, data.scope("all")).verdict[0] == "order flips"
            for data in (crossing(60, run) for run in range(50))
        )
        assert flips >= 45
        better = sum(
            family_pairs(data, data.scope("all")).verdict[0] == "better everywhere"
            for data in (g([1.8, 0.8], 150, run, 4) for run in range(50))
        )
        assert better >= 35
