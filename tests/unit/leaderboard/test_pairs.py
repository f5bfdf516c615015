from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assay.leaderboard.correctness import MISSING, POOLED, Correctness
from assay.leaderboard.pairs import judge, pair_table
from assay.stats import PairedCounts, needed_n, paired_difference

from .builders import build, twin_bands


def pairs(data: Correctness, *, alpha: float = 0.05, margin: float = 0.02) -> pd.DataFrame:
    """Return the pairs of the pooled scope; without any draw of the twin."""
    bands = twin_bands(data, draws=0, seed=0)[0]
    return pair_table(data, data.scope(POOLED), bands, alpha=alpha, margin=margin)


def random_leaderboard(seed: int, missing: float = 0.0) -> Correctness:
    rng = np.random.default_rng(seed)
    values = (rng.random((5, 40, 5)) < rng.random((5, 1, 1))).astype(int)
    values[rng.random(values.shape) < missing] = MISSING
    return build(values)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_every_column_equals_a_loop_over_items(missing: float) -> None:
    data = random_leaderboard(0, missing)
    table = pairs(data)
    assert len(table) == 10
    for row in table.to_dict("records"):
        a, b = data.models.index(row["better"]), data.models.index(row["worse"])
        n = b_count = c_count = fragile_lead = fragile_items = 0
        for i in range(len(data.items)):
            if not (data.present[a, i, 0] and data.present[b, i, 0]):
                continue
            n += 1
            lead = int(data.right[a, i, 0]) - int(data.right[b, i, 0])
            b_count += lead == 1
            c_count += lead == -1
            classes = [set(data.right[m, i, data.present[m, i]]) for m in (a, b)]
            if any(len(outcomes) == 2 for outcomes in classes):
                fragile_items += 1
                fragile_lead += lead
        assert (row["n"], row["wrong_to_right"], row["right_to_wrong"]) == (n, b_count, c_count)
        assert b_count >= c_count
        assert row["gap"] == pytest.approx((b_count - c_count) / n)
        assert row["gap_fragile"] == pytest.approx(fragile_lead / n)
        assert row["gap_fragile"] + row["gap_robust"] == pytest.approx(row["gap"])
        assert row["fragile_item_share"] == pytest.approx(fragile_items / n)
        if b_count > c_count:
            wanted = fragile_lead / (b_count - c_count)
            assert row["fragile_share_of_gap"] == pytest.approx(wanted)
        test = stats.binomtest(b_count, b_count + c_count).pvalue if b_count + c_count else 1
        assert row["p_value"] == pytest.approx(test)


def test_p_values_are_adjusted_over_all_pairs() -> None:
    table = pairs(random_leaderboard(1))
    wanted = stats.false_discovery_control(table["p_value"], method="by")
    assert table["p_adjusted"].to_numpy() == pytest.approx(wanted)
    assert ((table["verdict"] == "better") == (table["p_adjusted"] <= 0.05)).all()


def test_intervals_are_tango_at_the_level_of_alpha() -> None:
    row = pairs(random_leaderboard(2), alpha=0.1).iloc[0]
    b, c, n = row["wrong_to_right"], row["right_to_wrong"], row["n"]
    wanted = paired_difference(PairedCounts(n - b - c, b, c, 0), level=0.9)
    assert (row["low"], row["high"]) == pytest.approx((wanted.low, wanted.high))


def test_neighbours_are_those_of_the_reference_leaderboard() -> None:
    values = np.zeros((4, 10, 5), int)
    for model, score in enumerate((3, 9, 1, 6)):
        values[model, :score] = 1
    table = pairs(build(values))
    neighbours = table[table["adjacent"]]
    assert list(zip(neighbours["better"], neighbours["worse"], strict=True)) == [
        ("m01", "m03"),
        ("m03", "m00"),
        ("m00", "m02"),
    ]


def test_a_clear_lead_is_better_and_needs_no_more_items() -> None:
    values = np.zeros((2, 60, 5), int)
    values[0, :30] = 1
    row = pairs(build(values)).iloc[0]
    assert (row["better"], row["verdict"]) == ("m00", "better")
    assert np.isnan(row["needed_n"])


def test_equal_models_on_many_items_are_tied_and_on_few_are_not() -> None:
    rng = np.random.default_rng(0)
    for items, verdict in ((2000, "tied"), (50, "unresolved")):
        one = (rng.random((1, items, 1)) < 0.7).astype(int)
        values = np.repeat(np.repeat(one, 2, axis=0), 5, axis=2)
        flipped = rng.permutation(items)[: items // 20]
        values[0, flipped[::2]], values[1, flipped[1::2]] = 1, 1
        values[1, flipped[::2]], values[0, flipped[1::2]] = 0, 0
        assert pairs(build(values)).iloc[0]["verdict"] == verdict


def test_not_significant_is_not_tied() -> None:
    values = np.ones((2, 20, 5), int)
    values[0, :3], values[1, 3:6] = 0, 0
    row = pairs(build(values)).iloc[0]
    assert row["p_value"] == 1
    assert row["verdict"] == "unresolved"


def test_needed_n_is_for_the_gap_seen_and_at_least_the_margin() -> None:
    values = np.ones((2, 100, 5), int)
    values[1, :10], values[0, 10:15] = 0, 0
    row = pairs(build(values)).iloc[0]
    assert row["verdict"] == "unresolved"
    # Discordance (10 + 5 + .5) / 101, rounded up to a whole point.
    assert row["needed_n"] == needed_n(effect=0.05, discordance=0.16).n
    values[0, :] = values[1, :]
    row = pairs(build(values)).iloc[0]
    assert row["needed_n"] == needed_n(effect=0.02, discordance=0.02).n


def test_needed_n_allows_for_the_correction() -> None:
    values = np.ones((3, 30, 5), int)
    values[1, :2] = values[2, 2:4] = 0
    row = pairs(build(values)).iloc[0]
    level = 0.05 / 3 / (1 + 1 / 2 + 1 / 3)
    discordance = np.ceil(100 * 2.5 / 31) / 100
    assert row["needed_n"] == needed_n(effect=0.066, discordance=discordance, alpha=level).n


def test_no_common_items_leaves_a_pair_unresolved() -> None:
    values = np.ones((2, 2, 5), int)
    values[0, 0, :] = values[1, 1, :] = MISSING
    with pytest.warns(RuntimeWarning, match="no paired items"):
        row = pairs(build(values)).iloc[0]
    assert (row["n"], row["verdict"]) == (0, "unresolved")
    assert np.isnan([row["gap"], row["p_value"], row["needed_n"]]).all()


def test_one_model_has_no_pairs() -> None:
    assert pairs(build(np.ones((1, 3, 5)))).empty


RUNS = 300
#: So many wrong verdicts in 300 runs are credibly more than one in twenty.
TOO_MANY = 26


def verdicts(outcomes: np.ndarray, margin: float = 0.02) -> set[str]:
    """Return the verdicts on all pairs of models, given outcomes of shape (model, item)."""
    upper, lower = np.triu_indices(len(outcomes), 1)
    counts = PairedCounts.of(outcomes[lower], outcomes[upper])
    return set(judge(counts, alpha=0.05, margin=margin).verdict)


class TestErrorRates:
    """A verdict is wrong at most as often as it says."""

    @pytest.mark.parametrize(
        ("models", "items"),
        [
            (5, 60),
            pytest.param(2, 40, marks=pytest.mark.slow),
            pytest.param(5, 400, marks=pytest.mark.slow),
        ],
    )
    def test_equal_models_are_rarely_told_apart(self, models: int, items: int) -> None:
        wrong = 0
        for run in range(RUNS):
            rng = np.random.default_rng([run, models, items])
            # Items of different difficulty make the models' outcomes depend on each other.
            difficulty = rng.beta(1, 1, items)
            wrong += "better" in verdicts(rng.random((models, items)) < difficulty)
        assert wrong < TOO_MANY

    @pytest.mark.parametrize(
        "discordance",
        [
            0.05,
            pytest.param(0.07, marks=pytest.mark.slow),
            pytest.param(0.15, marks=pytest.mark.slow),
        ],
    )
    def test_models_that_differ_by_the_margin_are_rarely_tied(self, discordance: float) -> None:
        wrong, margin, items = 0, 0.05, 300
        for run in range(RUNS):
            rng = np.random.default_rng([run, int(100 * discordance)])
            wrong += "tied" in verdicts(two_models(rng, items, margin, discordance), margin)
        assert wrong < TOO_MANY

    def test_false_ties_among_many_pairs_stay_rare(self) -> None:
        """All pairs differ by the margin or more: a run with any tie is a false discovery."""
        wrong, margin, items = 0, 0.05, 1500
        chance = 0.5 + margin * np.arange(4)[:, None]
        for run in range(RUNS):
            rng = np.random.default_rng([run, 77])
            alike, own = rng.random(items) < chance, rng.random((4, items)) < chance
            outcomes = np.where(rng.random((4, items)) < 0.1, own, alike)
            wrong += "tied" in verdicts(outcomes, margin)
        assert wrong < TOO_MANY

    def test_a_real_gap_is_found(self) -> None:
        found = 0
        for run in range(100):
            rng = np.random.default_rng([run, 5])
            found += "better" in verdicts(two_models(rng, 100, 0.2, 0.3))
        assert found >= 90  # planned power .97

    def test_a_real_tie_is_found(self) -> None:
        found = 0
        for run in range(100):
            rng = np.random.default_rng([run, 6])
            found += "tied" in verdicts(two_models(rng, 700, 0, 0.15), 0.05)
        assert found >= 80  # planned power .90


def two_models(rng: np.random.Generator, items: int, gap: float, discordance: float) -> np.ndarray:
    """Draw outcomes of two models that disagree on a share of items."""
    split = [(discordance + gap) / 2, (discordance - gap) / 2, 1 - discordance]
    b, c, _ = rng.multinomial(items, split)
    outcomes = np.ones((2, items), bool)
    outcomes[1, :b], outcomes[0, b : b + c] = False, False
    return outcomes
