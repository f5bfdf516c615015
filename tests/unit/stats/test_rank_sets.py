from __future__ import annotations

import itertools

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.stats import PairedCounts, mcnemar_exact
from assay.stats.rank_sets import RankSets, rank_confidence


def bounds(sets: RankSets) -> list[list[int]]:
    return [x.tolist() for x in (sets.low, sets.high, sets.marginal_low, sets.marginal_high)]


def noisy_copies(rng: np.random.Generator, items: int, models: int, flips: float) -> np.ndarray:
    """Return equally accurate models that agree on most items."""
    base = rng.random((items, 1)) < 0.7
    return base ^ (rng.random((items, models)) < flips)


def enumerated(
    outcomes: np.ndarray, alpha: float, *, steps: int = 99
) -> tuple[list[int], list[int]]:
    """Return the joint sets from all patterns of signs, one hypothesis after the other."""
    items, models = outcomes.shape
    pairs = list(itertools.permutations(range(models), 2))
    difference = {(j, k): outcomes[:, j] - outcomes[:, k] for j, k in pairs}
    size = {pair: np.sqrt((d**2).sum()) for pair, d in difference.items()}
    patterns = np.array(list(itertools.product((-1, 1), repeat=items)))
    null = {pair: patterns @ difference[pair] / size[pair] for pair in pairs}
    undecided, found = set(pairs), set()
    for _ in range(steps):
        if not undecided:
            break
        largest = np.max([null[pair] for pair in undecided], axis=0)
        new = {
            pair
            for pair in undecided
            if np.mean(largest >= difference[pair].sum() / size[pair] - 1e-9) <= alpha
        }
        if not new:
            break
        undecided -= new
        found |= new
    low = [1 + sum((k, j) in found for k in range(models)) for j in range(models)]
    high = [models - sum((j, k) in found for k in range(models)) for j in range(models)]
    return low, high


class TestOracles:
    @pytest.mark.parametrize(
        ("b", "c"), [(5, 0), (6, 0), (8, 1), (7, 1), (10, 3), (12, 3), (30, 12), (30, 16), (4, 4)]
    )
    def test_two_models_are_ordered_when_the_exact_mcnemar_test_is_significant(
        self, b: int, c: int
    ) -> None:
        outcomes = np.repeat([[0, 1], [1, 0], [1, 1], [0, 0]], [b, c, 20, 10], axis=0)
        sets = rank_confidence(outcomes, draws=9_999, seed=1)
        significant = mcnemar_exact(PairedCounts(20, b, c, 10)).p_value <= 0.05
        assert bounds(sets) == 2 * ([[2, 1], [2, 1]] if significant else [[1, 1], [2, 2]])

    def test_equals_all_patterns_of_signs_and_later_steps_find_more(self) -> None:
        more = 0
        for seed in range(12):
            rng = np.random.default_rng(seed)
            outcomes = rng.standard_normal((10, 4)) + np.array([0, 0.5, 1.5, 3])
            found = rank_confidence(outcomes, draws=1024, seed=1)
            wanted = enumerated(outcomes, 0.05)
            assert (found.low.tolist(), found.high.tolist()) == wanted
            more += wanted != enumerated(outcomes, 0.05, steps=1)
        assert more > 1

    def test_drawn_signs_approach_all_of_them(self) -> None:
        outcomes = np.random.default_rng(2).standard_normal((12, 4)) + np.array([0, 0.5, 1.5, 3])
        drawn = rank_confidence(outcomes, draws=4_000, seed=1)
        assert bounds(drawn) == bounds(rank_confidence(outcomes, draws=4_096, seed=1))


class TestErrorRates:
    @pytest.mark.parametrize(
        ("items", "models", "flips"), [(30, 2, 0.1), (60, 12, 0.2), (200, 6, 0.05)]
    )
    def test_equal_models_are_seldom_ordered(self, items: int, models: int, flips: float) -> None:
        rng = np.random.default_rng(4)
        false = 0
        for seed in range(300):
            sets = rank_confidence(noisy_copies(rng, items, models, flips), draws=299, seed=seed)
            false += bool((sets.low > 1).any())
        assert false < 26

    def test_true_ranks_are_in_all_sets_at_once(self) -> None:
        rng = np.random.default_rng(5)
        ability = np.array([0.2, 0.2, 0.1, 0.0, 0.0, -0.05])
        first = 1 + (ability[:, None] < ability).sum(axis=1)
        last = len(ability) - (ability[:, None] > ability).sum(axis=1)
        wrong = single = 0
        for seed in range(300):
            ease = rng.uniform(0.3, 0.7, (250, 1))
            sets = rank_confidence(rng.random((250, 6)) < ease + ability, draws=299, seed=seed)
            wrong += bool(((sets.low > first) | (sets.high < last)).any())
            single += int(sets.marginal_low[2] > first[2] or sets.marginal_high[2] < last[2])
        assert wrong < 26
        assert single < 26

    def test_steps_of_ten_points_are_found(self) -> None:
        rng = np.random.default_rng(6)
        widths = []
        for seed in range(30):
            ease = rng.uniform(0.2, 0.5, (1000, 1))
            outcomes = rng.random((1000, 5)) < ease + np.arange(5) / 10
            sets = rank_confidence(outcomes, draws=299, seed=seed)
            widths.append((sets.high == sets.low).mean())
        assert np.mean(widths) >= 0.95

    def test_only_clusters_keep_the_promise_where_items_share_a_passage(self) -> None:
        rng = np.random.default_rng(7)
        false = np.zeros(2)
        for seed in range(200):
            shared = np.repeat(rng.standard_normal((40, 4)), 5, axis=0)
            outcomes = shared + rng.standard_normal((200, 4))
            for k, clusters in enumerate((np.arange(200) // 5, None)):
                sets = rank_confidence(outcomes, clusters=clusters, draws=199, seed=seed)
                false[k] += bool((sets.low > 1).any())
        assert false[0] <= 18
        assert false[1] > 60


class TestInvariance:
    def test_marginal_sets_are_never_wider(self) -> None:
        rng = np.random.default_rng(8)
        narrower = 0
        for seed in range(20):
            outcomes = rng.random((150, 8)) < rng.uniform(0.3, 0.8, 8)
            sets = rank_confidence(outcomes, draws=299, seed=seed)
            assert np.all(sets.marginal_low >= sets.low)
            assert np.all(sets.marginal_high <= sets.high)
            assert np.all((sets.low <= sets.rank) & (sets.rank <= sets.high))
            narrower += int((sets.marginal_high - sets.marginal_low).sum())
            narrower -= int((sets.high - sets.low).sum())
        assert narrower < 0

    def test_order_of_the_models_and_scale_do_not_matter(self) -> None:
        outcomes = np.random.default_rng(9).random((120, 6)) < np.linspace(0.3, 0.8, 6)
        order = np.array([3, 0, 5, 1, 4, 2])
        sets = rank_confidence(outcomes, draws=499, seed=1)
        moved = rank_confidence(outcomes[:, order], draws=499, seed=1)
        scaled = rank_confidence(outcomes * 0.25, draws=499, seed=1)
        assert bounds(moved) == [[bound[k] for k in order] for bound in bounds(sets)]
        assert bounds(scaled) == bounds(sets)

    def test_copies_of_an_item_in_one_cluster_add_no_certainty(self) -> None:
        outcomes = np.random.default_rng(10).random((80, 5)) < np.linspace(0.4, 0.7, 5)
        tripled, clusters = np.repeat(outcomes, 3, axis=0), np.repeat(np.arange(80), 3)
        once = rank_confidence(outcomes, seed=1)
        kept = rank_confidence(tripled, clusters=clusters, seed=1)
        assert bounds(kept) == bounds(once)
        assert (kept.n, kept.units) == (240, 80)
        assert sum(rank_confidence(tripled, seed=1).high) < sum(once.high)

    def test_block_size_changes_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        outcomes = np.random.default_rng(11).random((90, 6)) + np.linspace(0, 0.4, 6)
        whole = rank_confidence(outcomes, seed=1)
        monkeypatch.setattr("assay.stats.rank_sets._BLOCK", 1000)
        assert bounds(rank_confidence(outcomes, seed=1)) == bounds(whole)


class TestDegenerate:
    def test_equal_outcomes_are_never_ordered(self) -> None:
        outcomes = np.repeat(np.arange(40)[:, None] % 2, 3, axis=1)
        sets = rank_confidence(outcomes, seed=1)
        assert sets.rank.tolist() == [1, 1, 1]
        assert bounds(sets) == 2 * [[1, 1, 1], [3, 3, 3]]

    def test_always_against_never_right_is_no_division_by_zero(self) -> None:
        sets = rank_confidence(np.tile([0, 1], (30, 1)), seed=1)
        assert bounds(sets) == 2 * [[2, 1], [2, 1]]

    def test_five_clusters_order_nothing(self) -> None:
        outcomes = np.tile([0, 1], (100, 1))
        with pytest.warns(RuntimeWarning, match="5 units are too few"):
            sets = rank_confidence(outcomes, clusters=np.arange(100) % 5, level=0.5, seed=1)
        assert bounds(sets) == 2 * [[1, 1], [2, 2]]
        assert sets.rank.tolist() == [2, 1]

    def test_too_few_draws_for_the_level_find_nothing(self) -> None:
        sets = rank_confidence(np.tile([0, 1], (30, 1)), draws=18, seed=1)
        assert bounds(sets) == 2 * [[1, 1], [2, 2]]

    def test_one_model_has_rank_one(self) -> None:
        assert bounds(rank_confidence(np.ones((10, 1)), seed=1)) == [[1], [1], [1], [1]]

    def test_unusable_input_is_refused(self) -> None:
        with pytest.raises(AnalysisError, match="items that all models answered"):
            rank_confidence([[1, np.nan]], seed=1)
        with pytest.raises(AnalysisError, match="one row an item"):
            rank_confidence([1, 0], seed=1)
        with pytest.raises(AnalysisError, match="between 0 and 1"):
            rank_confidence(np.ones((9, 2)), level=95, seed=1)
        with pytest.raises(AnalysisError, match="at least one draw"):
            rank_confidence(np.ones((9, 2)), draws=0, seed=1)
