from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.grid.likelihood import choose

logprobs = st.floats(-50, 0, allow_nan=False)


@given(st.lists(st.lists(logprobs, min_size=1, max_size=5), min_size=2, max_size=6))
def test_the_greatest_mean_wins(values: list[list[float]]) -> None:
    options = [f"option {n}" for n in range(len(values))]
    chosen = choose("item", options, [0], values)
    means = [math.fsum(v) / len(v) for v in values]
    assert chosen.option is not None
    assert means[chosen.option] == max(means)
    assert set(chosen.tied) == {n for n, mean in enumerate(means) if mean == max(means)}
    assert chosen.margin == sorted(means)[-1] - sorted(means)[-2]
    assert chosen.credit == (1 / len(chosen.tied) if 0 in chosen.tied else 0)


def test_three_normalisations_from_one_pass() -> None:
    chosen = choose("item", ["é", "ab"], [0], [[-1.0, -2.0], [-4.0]])
    assert chosen.scores.sum == (-3.0, -4.0)
    assert chosen.scores.token == (-1.5, -4.0)
    assert chosen.scores.byte == (-1.5, -2.0)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("place", range(4))
def test_a_score_that_is_no_number_never_wins(bad: float, place: int) -> None:
    # The old rule, argmax of NaN, gave option 0 and so every item whose gold comes first.
    values = [[-1.0], [-2.0], [-3.0], [-4.0]]
    values[place] = [bad]
    chosen = choose("item", list("abcd"), [0], values)
    assert (chosen.status, chosen.option, chosen.credit) == ("nonfinite", None, 0.0)


def test_an_empty_option_is_a_status() -> None:
    chosen = choose("item", ["a", ""], [0], [[-1.0], []])
    assert (chosen.status, chosen.option) == ("empty_option", None)


def test_ties_are_broken_by_a_fair_coin_that_is_stored() -> None:
    options = ["w", "x", "y", "z"]
    wins = Counter(
        choose(f"item {n}", options, [0], [[-1.0], [-1.0], [-1.0], [-2.0]]).option
        for n in range(3000)
    )
    assert set(wins) == {0, 1, 2}
    # Binomial(3000, 1/3): five standard deviations are 129.
    assert all(abs(count - 1000) < 129 for count in wins.values())
    again = choose("item 1", options, [0], [[-1.0], [-1.0], [-1.0], [-2.0]])
    assert again == choose("item 1", options, [0], [[-1.0], [-1.0], [-1.0], [-2.0]])
    assert again.credit == pytest.approx(1 / 3)


def test_equal_gold_texts_share_the_credit() -> None:
    chosen = choose("item", ["same", "same", "x"], [0, 1], [[-1.0], [-1.0], [-1.0]])
    assert chosen.credit == pytest.approx(2 / 3)


def test_pmi_takes_away_what_an_option_gets_without_the_question() -> None:
    # Sums -3 and -4 after the stem, -1 and -3.5 without it: -2 and -0.5.
    chosen = choose(
        "i", ["a", "b"], [1], [[-1.0, -2.0], [-4.0]], rule="pmi", unconditional=[[-1.0], [-3.5]]
    )
    assert chosen.scores.pmi == (-2.0, -0.5)
    assert (chosen.option, chosen.margin, chosen.credit) == (1, 1.5, 1.0)
    assert choose("i", ["a", "b"], [1], [[-1.0, -2.0], [-4.0]]).scores.pmi == ()


def test_pmi_of_nothing_or_of_nan_never_wins() -> None:
    options, scores = ["a", "b"], [[-1.0], [-2.0]]
    lost = choose("i", options, [0], scores, rule="pmi", unconditional=[[-1.0], []])
    assert (lost.status, lost.option) == ("empty_option", None)
    spoilt = choose("i", options, [0], scores, rule="pmi", unconditional=[[-1.0], [float("nan")]])
    assert (spoilt.status, spoilt.option, spoilt.scores.pmi) == ("nonfinite", None, (0.0, None))


def test_labels_are_chosen_by_the_probability_of_the_whole_label() -> None:
    # Per token the second would win; as a whole label it is less probable.
    chosen = choose("i", ["x", "y"], [0], [[-1.0], [-0.9, -0.9]], rule="sum", scored=["A", "10"])
    assert chosen.option == 0
    assert chosen.scores.byte == (-1.0, -0.9)
