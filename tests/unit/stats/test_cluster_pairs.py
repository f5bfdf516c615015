"""All pairs at once give what one pair after the other gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from assay.stats.cluster_pairs import by_student, clustered_pairs
from assay.stats.clusters import ClusteredTest, clustered_difference

RNG = np.random.default_rng(5)
CLUSTERS = {
    "each item its own": np.arange(400),
    "of one size": np.arange(400) // 8,
    "of many sizes, out of order": RNG.permutation(
        np.repeat(np.arange(90), RNG.integers(1, 9, 90))
    )[:400],
}


def models(items: int) -> np.ndarray:
    """Return counts of 6, of models some of which are much alike."""
    rng = np.random.default_rng(items)
    base = rng.integers(0, 7, items)
    rows = [rng.integers(0, 7, items), base, base, np.minimum(base + 1, 6), 6 - base]
    near = base.copy()
    near[3] = (near[3] + 1) % 7
    return np.array([*rows, near, np.zeros(items, int)])


def one_by_one(scores: np.ndarray, clusters: np.ndarray, a: int, b: int) -> ClusteredTest:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return clustered_difference((scores[a] - scores[b]).astype(float), clusters, level=0.9)


@pytest.mark.parametrize("kind", CLUSTERS)
def test_all_pairs_are_as_one_by_one(kind: str) -> None:
    clusters = CLUSTERS[kind]
    scores = models(clusters.size)
    assert by_student(clusters)
    first, second = np.triu_indices(len(scores), 1)
    found = clustered_pairs(scores, clusters, first, second, level=0.9)
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        wanted = one_by_one(scores, clusters, a, b)
        assert found.estimate[k] == pytest.approx(wanted.interval.estimate, abs=1e-12)
        assert found.p_value[k] == pytest.approx(wanted.p_value, rel=1e-8, abs=1e-300)
        assert found.low[k] == pytest.approx(wanted.interval.low, abs=1e-10, nan_ok=True)
        assert found.high[k] == pytest.approx(wanted.interval.high, abs=1e-10, nan_ok=True)


def test_few_clusters_and_unequal_ones_are_not_for_students_t() -> None:
    assert not by_student(np.arange(19))
    assert by_student(np.arange(20))
    assert not by_student(np.concatenate([np.zeros(300, int), np.arange(1, 40)]))


def test_blocks_of_threads_change_no_bit() -> None:
    scores = models(4000)
    first, second = np.triu_indices(len(scores), 1)
    whole = clustered_pairs(scores, np.arange(4000), first, second, level=0.95)
    turned = clustered_pairs(scores[:, ::-1], np.arange(4000), first, second, level=0.95)
    assert np.array_equal(whole.p_value, turned.p_value, equal_nan=True)
    assert np.array_equal(whole.low, turned.low, equal_nan=True)
