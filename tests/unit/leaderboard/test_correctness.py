from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, POOLED, family

from .builders import GRID, build, configuration


def test_scopes_are_everything_then_each_benchmark() -> None:
    data = build(np.ones((1, 3, 5)), benchmarks=["a", "a", "b"])
    scopes = {scope.benchmark: scope.items.tolist() for scope in data.scopes()}
    assert list(scopes) == [POOLED, "a", "b"]
    assert scopes["a"] == [True, True, False]
    assert scopes[POOLED] == [True] * 3


def test_missing_and_not_applicable_are_neither_right_nor_wrong() -> None:
    data = build([[[1, 0, MISSING, NOT_APPLICABLE, 1]]])
    assert data.present[0, 0].tolist() == [True, True, False, False, True]
    assert data.right[0, 0].tolist() == [True, False, False, False, True]


def test_a_locked_item_is_not_complete_but_leaves_the_others_alone() -> None:
    values = np.ones((2, 3, 5))
    values[:, 1, [1, 3]] = NOT_APPLICABLE
    data = build(values)
    scope = data.scope(POOLED)
    assert data.offered(scope).tolist() == [0, 1, 2, 3, 4]
    assert data.complete(scope).tolist() == [[True, False, True]] * 2


def test_a_configuration_that_nothing_supports_is_not_offered() -> None:
    values = np.ones((1, 2, 5))
    values[:, :, 3] = NOT_APPLICABLE
    data = build(values)
    scope = data.scope(POOLED)
    assert data.offered(scope).tolist() == [0, 1, 2, 4]
    assert data.complete(scope).all()


def test_a_missing_observation_concerns_its_model_only() -> None:
    values = np.ones((2, 2, 5))
    values[0, 0, 2] = MISSING
    data = build(values)
    assert data.complete(data.scope(POOLED)).tolist() == [[False, True], [True, True]]


def test_a_model_without_observations_is_not_ranked() -> None:
    values = np.ones((2, 2, 5))
    values[0, 1] = MISSING
    data = build(values, benchmarks=["a", "b"])
    assert data.ranked(data.scope("a")).tolist() == [0, 1]
    assert data.ranked(data.scope("b")).tolist() == [1]


def test_clusters_lie_within_a_benchmark() -> None:
    data = build(np.ones((1, 4, 5)), benchmarks=["a", "a", "b", "b"])
    clusters = ["x", "x", "x", "y"]
    items = tuple(
        replace(item, cluster=cluster) for item, cluster in zip(data.items, clusters, strict=True)
    )
    assert replace(data, items=items).cluster_of.tolist() == [0, 0, 1, 2]


def test_chance_is_the_mean_of_one_over_options() -> None:
    data = build(np.ones((1, 2, 5)), options=5)
    assert data.chance(np.array([True, False])) == pytest.approx(0.2)
    assert np.isnan(data.chance(np.array([False, False])))


def test_families_are_formats_and_cloze() -> None:
    keys = (*GRID, "ll|cloze_question", "ll|labels_shown")
    assert [family(configuration(key)) for key in keys] == [
        "f",
        "f",
        "g",
        "g",
        "cloze",
        "cloze",
        "labels_shown",
    ]
