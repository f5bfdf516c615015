from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, POOLED, Scope
from assay.leaderboard.cube import Cube, cluster_codes

from .builders import build


def test_only_complete_items_and_ranked_models_are_kept() -> None:
    values = np.ones((3, 5, 5), np.uint8)
    values[0, 0, 2] = MISSING
    values[:, 1, 3] = NOT_APPLICABLE  # a locked item
    values[2] = MISSING  # a model that was never asked
    values[1, 4] = 0
    data = build(values)
    cube = Cube.of(data, data.scope(POOLED))
    assert cube.items.tolist() == [2, 3, 4]
    assert cube.models.tolist() == [0, 1]
    assert cube.right[1].any(axis=1).tolist() == [True, True, False]
    assert cube.share == pytest.approx(3 / 5)
    assert cube.clusters is None


def test_the_reference_is_counted_among_the_offered_configurations() -> None:
    values = np.ones((2, 3, 5), np.uint8)
    values[:, :, 0] = NOT_APPLICABLE
    data = build(values, reference="gen|g|p0")
    cube = Cube.of(data, data.scope(POOLED))
    assert cube.configurations.tolist() == [1, 2, 3, 4]
    assert cube.reference == 1


def test_an_empty_scope_has_an_empty_cube() -> None:
    data = build(np.ones((2, 3, 5)))
    cube = Cube.of(data, Scope("nothing", np.zeros(3, bool)))
    assert cube.right.shape[:2] == (0, 0)
    assert np.isnan(cube.share)


def test_duplicates_share_a_cluster() -> None:
    data = build(np.ones((1, 3, 5)))
    items = (data.items[0], replace(data.items[1], cluster=data.items[0].cluster), data.items[2])
    codes = cluster_codes(replace(data, items=items), np.arange(3))
    assert codes is not None
    assert codes[0] == codes[1] != codes[2]
