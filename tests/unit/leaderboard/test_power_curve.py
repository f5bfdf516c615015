from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from assay.leaderboard.correctness import MISSING
from assay.leaderboard.power_curve import power_curve, power_table
from assay.stats import minimum_detectable_effect, needed_n

from .builders import build


def test_against_every_pair_by_hand() -> None:
    rng = np.random.default_rng(4)
    values = (rng.random((5, 200, 2)) < 0.6).astype(np.uint8)
    values[1, :20, 0] = MISSING
    data = build(values)
    found = power_curve(data, data.scope("all"))
    at = data.values[:, :, data.reference]
    apart = []
    for a, b in itertools.combinations(range(5), 2):
        both = (at[a] < MISSING) & (at[b] < MISSING)
        apart.append(np.mean(at[a, both] != at[b, both]))
    assert found.pairs == 10
    assert found.discordance == pytest.approx(np.quantile(apart, [0.25, 0.5, 0.75]), abs=1e-7)
    own = int(np.flatnonzero(found.n == 200)[0])
    expected = minimum_detectable_effect(200, discordance=float(found.discordance[1]))
    assert found.effect[1, own] == expected.effect
    assert found.needed == needed_n(effect=0.02, discordance=float(found.discordance[1])).n
    assert f"200 items find a gap of {100 * expected.effect:.1f} points" in found.reading
    known = found.effect[:, ~np.isnan(found.effect).any(axis=0)]
    assert (np.diff(known, axis=1) < 0).all()
    assert len(power_table(found)) == 3 * found.n.size
    json.dumps(found.as_json(), allow_nan=False)


def test_one_model_and_equal_models_have_no_curve() -> None:
    for values in (np.ones((1, 8, 2)), np.ones((3, 8, 2))):
        data = build(values)
        found = power_curve(data, data.scope("all"))
        assert "unknown" in found.reading
        assert power_table(found).empty
        json.dumps(found.as_json(), allow_nan=False)


def test_models_that_hardly_differ_show_nothing() -> None:
    values = np.ones((2, 400, 1))
    values[1, 0] = 0
    data = build(values)
    found = power_curve(data, data.scope("all"))
    assert found.needed is None
    assert "no gap at all" in found.reading
    assert "cannot be shown" in found.reading
