from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import AnalysisError
from assay.leaderboard.apart import Apart
from assay.leaderboard.choices_only import above_guessing, choices_only, choices_only_table
from assay.leaderboard.codes import MISSING
from assay.leaderboard.correctness import Correctness

from .builders import GRID, build

KEY = "gen|c|p0"


def study(control: np.ndarray, *, models: int = 1) -> Correctness:
    items = control.shape[-1]
    data = build(np.ones((models, items, 2)), keys=GRID[:2])
    codes = np.broadcast_to(control, (models, items)).astype(np.uint8)
    return replace(data, apart=Apart(controls={KEY: codes}))


def test_the_tail_is_the_binomial_one_where_items_are_alike() -> None:
    wanted = stats.binomtest(40, 100, 0.25, alternative="greater").pvalue
    assert above_guessing(40, np.full(100, 4)) == pytest.approx(wanted, rel=1e-9)
    assert np.isnan(above_guessing(0, np.zeros(0, int)))


def test_the_tail_is_exact_for_mixed_numbers_of_options() -> None:
    options = np.array([2, 3, 3, 4, 5, 2])
    for right in range(7):
        wanted = sum(
            np.prod([1 / n if hit else 1 - 1 / n for n, hit in zip(options, hits, strict=True)])
            for hits in itertools.product([0, 1], repeat=6)
            if sum(hits) >= right
        )
        assert above_guessing(right, options) == pytest.approx(wanted)


def test_a_control_is_compared_with_guessing_on_its_own_items() -> None:
    control = np.array([1] * 8 + [0] * 10 + [MISSING] * 2)
    found = choices_only(study(control), study(control).scope("all"))
    (one,) = found.controls
    assert (one.accuracy.n, one.chance, one.reference) == (18, 0.25, 1.0)
    assert one.p_value == pytest.approx(stats.binom.sf(7, 18, 0.25))
    assert found.p_adjusted == (one.p_value,)
    assert "Without the question m00 is right on 44.4 % of 18 items" in found.reading
    json.dumps(found.as_json(), allow_nan=False)
    assert len(choices_only_table(found)) == 1


def test_guessing_is_seldom_called_knowledge() -> None:
    rng = np.random.default_rng(5)
    claims = 0
    for _ in range(400):
        data = study(rng.random((3, 60)) < 0.25, models=3)
        found = choices_only(data, data.scope("all"))
        claims += min(found.p_adjusted) <= 0.05
    assert claims <= 33, "5 % of 400, plus three standard errors"


def test_knowledge_is_found() -> None:
    rng = np.random.default_rng(6)
    hits = sum(
        choices_only(data, data.scope("all")).p_adjusted[0] <= 0.05
        for data in (study(rng.random(100) < 0.45) for _ in range(50))
    )
    assert hits >= 45


def test_items_that_share_clusters_are_no_independent_guesses() -> None:
    control = np.repeat(np.arange(24) % 2, 5)
    data = study(control)
    items = tuple(replace(x, cluster=f"c{k // 5}") for k, x in enumerate(data.items))
    (one,) = choices_only(replace(data, items=items), data.scope("all")).controls
    (alone,) = choices_only(data, data.scope("all")).controls
    assert alone.p_value < one.p_value < 0.05


def test_nothing_observed_is_said_and_alpha_is_checked() -> None:
    data = study(np.full(4, MISSING))
    assert "is unknown" in choices_only(data, data.scope("all")).reading
    with pytest.raises(AnalysisError, match="alpha"):
        choices_only(data, data.scope("all"), alpha=0.7)
