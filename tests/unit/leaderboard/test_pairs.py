from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assay.leaderboard.correctness import MISSING, POOLED, Correctness
from assay.leaderboard.pairs import pair_table
from assay.stats import PairedCounts, ebh, needed_n, paired_difference, paired_evalue

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


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_robust_items_are_chosen_on_the_other_models(missing: float) -> None:
    rng = np.random.default_rng(4)
    values = np.repeat((rng.random((4, 60, 1)) < 0.6).astype(int), 5, axis=2)
    flipped = rng.random((4, 60)) < 0.2
    values[flipped, 4] = 1 - values[flipped, 4]
    values[rng.random(values.shape) < missing] = MISSING
    data = build(values)
    for row in pairs(data).to_dict("records"):
        a, b = data.models.index(row["better"]), data.models.index(row["worse"])
        if not row["adjacent"]:
            assert np.isnan([row["robust_items"], row["robust_gap"]]).all()
            continue
        leads = []
        for i in range(60):
            seen = [data.right[m, i, data.present[m, i]] for m in range(4) if m not in (a, b)]
            robust = all(len(outcomes) > 1 and len(set(outcomes)) == 1 for outcomes in seen)
            if robust and data.present[a, i, 0] and data.present[b, i, 0]:
                leads.append(int(data.right[a, i, 0]) - int(data.right[b, i, 0]))
        assert row["robust_items"] == len(leads) > 0
        assert row["robust_gap"] == pytest.approx(np.mean(leads))


def test_two_models_have_no_others_to_choose_by() -> None:
    row = pairs(build(np.ones((2, 8, 5)))).iloc[0]
    assert np.isnan([row["robust_items"], row["robust_gap"]]).all()


def test_evidence_of_a_difference_that_may_be_looked_at_any_time() -> None:
    values = np.ones((3, 40, 5), int)
    values[1, :20] = 0
    table = pairs(build(values)).set_index(["better", "worse"])
    assert table.loc[("m00", "m01"), "log_e"] == pytest.approx(paired_evalue(20, 0).log_e)
    assert table.loc[("m00", "m02"), "log_e"] == 0
    levels = ebh(table["log_e"], alpha=0.05).levels
    assert table["e_level"].to_numpy() == pytest.approx(levels)
    assert (levels <= 0.05).sum() == 2


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
