from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.benchmarks.adapters.draft import Draft
from assay.benchmarks.selection import by_hash, pool_from, select
from assay.benchmarks.sources import Location
from assay.benchmarks.spec import Selection
from assay.core.errors import SnapshotError


def draft(number: int, subject: str = "all", **changes: Any) -> Draft:
    base: dict[str, Any] = {
        "where": Location("f", number),
        "native_id": f"{subject}-{number}",
        "question": f"question {subject} {number}",
        "options": ("a", "b"),
        "gold": 0,
        "subject": subject,
    }
    return Draft(**{**base, **changes})


def population(**sizes: int) -> list[Draft]:
    return [draft(number, subject) for subject, size in sizes.items() for number in range(size)]


def names(drafts: list[Draft]) -> list[str]:
    return [one.native_id for one in drafts]


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.dictionaries(st.sampled_from("abcdefg"), st.integers(1, 40), min_size=1),
    share=st.floats(0.01, 1),
    salt=st.text(max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_choice_ignores_row_order_and_stays_near_proportion(
    sizes: dict[str, int], share: float, salt: str, order: random.Random
) -> None:
    drafts = population(**sizes)
    wanted = max(1, int(share * len(drafts)))
    selection = Selection(items=wanted, salt=salt)
    items, _ = select(drafts, selection, where="b")
    shuffled = drafts.copy()
    order.shuffle(shuffled)
    assert select(shuffled, selection, where="b")[0] == items
    taken = Counter(one.subject for one in items)
    assert len(items) == len(set(names(items))) == wanted
    for subject, size in sizes.items():
        assert abs(taken[subject] - wanted * size / len(drafts)) < 2


def test_asking_for_more_keeps_those_already_asked() -> None:
    drafts = population(law=70, physics=11, art=3)
    whole = names(by_hash(drafts, Selection()))
    for wanted in (1, 6, 15, 40):
        items, _ = select(drafts, Selection(items=wanted), where="b")
        assert names(items) == whole[:wanted]


def test_small_subjects_have_the_same_chance() -> None:
    """Over 4,000 salts, items of a subject of 2, 10 and 48 are each drawn 10 % of the time."""
    drafts = population(small=2, middle=10, large=48)
    drawn: Counter[str] = Counter()
    salts = 4000
    for salt in range(salts):
        items, _ = select(drafts, Selection(items=6, salt=str(salt)), where="b")
        drawn.update(one.subject for one in items)
    rates = np.array([drawn["small"] / 2, drawn["middle"] / 10, drawn["large"] / 48]) / salts
    # Standard error of the smallest subject's rate: sqrt(.1 * .9 / 8000) = .0034.
    assert np.allclose(rates, 0.1, atol=0.012), rates


def test_salt_changes_the_choice() -> None:
    drafts = population(a=200)
    one, other = (
        set(names(select(drafts, Selection(items=50, salt=salt), where="b")[0]))
        for salt in ("x", "y")
    )
    assert len(one & other) < 30


def test_without_strata_the_smallest_hashes_are_taken() -> None:
    drafts = population(a=50, b=50)
    free = names(by_hash(drafts, Selection(stratify=False)))
    renamed = [draft(number, "one", native_id=one.native_id) for number, one in enumerate(drafts)]
    assert names(by_hash(renamed, Selection())) == free


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(items=13), "13 items are asked for, but only 12 exist.*at most 12"),
        (Selection(items=10, pool=3), "10 items and a pool of 3 .* only 12 exist.*at most 9"),
        (Selection(rule="released", items=8), "8 items and a pool of 5 .*at most 7"),
        (Selection(rule="all", pool=12), "1 items and a pool of 12 .*only 12 exist"),
    ],
)
def test_more_than_there_are_is_refused(selection: Selection, message: str) -> None:
    with pytest.raises(SnapshotError, match=rf"^mmlu: {message}"):
        select(population(a=12), selection, where="mmlu")


def test_the_pool_is_disjoint_also_in_content_and_stable() -> None:
    drafts = population(a=30)
    twins = [draft(100 + number, question=f"question a {number}") for number in range(30)]
    few, pool = select(drafts + twins, Selection(items=10, pool=5), where="b")
    more, same = select(drafts + twins, Selection(items=11, pool=5), where="b")
    assert len(pool) == 5
    for items, kept in ((few, pool), (more, same)):
        assert not {one.question for one in items} & {one.question for one in kept}


def test_pool_from_another_source_leaves_out_asked_questions() -> None:
    items = population(a=3)
    dev = [draft(7, question="new"), draft(8, question="question a 1"), draft(9, question="newer")]
    assert [one.question for one in pool_from(dev, items, 5)] == ["new", "newer"]


def test_released_is_the_old_shuffle_of_the_source_order() -> None:
    drafts = population(a=40)
    expected = list(range(40))
    random.Random(1234).shuffle(expected)
    items, pool = select(drafts[::-1], Selection(rule="released", items=20), where="b")
    assert [one.where.row for one in pool] == expected[:5]
    assert [one.where.row for one in items] == expected[5:25]
    everything, _ = select(drafts, Selection(rule="released"), where="b")
    assert [one.where.row for one in everything] == expected[5:]


def test_released_follows_its_seed() -> None:
    drafts = population(a=40)
    one, _ = select(drafts, Selection(rule="released", items=20, seed=1), where="b")
    other, _ = select(drafts, Selection(rule="released", items=20, seed=2), where="b")
    assert names(one) != names(other)
