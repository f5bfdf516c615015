from __future__ import annotations

import json

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.effects import AXES, AxisEffect, configuration_effects, effect_table
from assay.stats import cochran_q
from assay.stats.clusters import clustered_difference
from support.twin import simulate

from .builders import GRID, build
from .grids import study

RUNS, TOO_MANY = 300, 26


def effects(data: Correctness) -> dict[tuple[str, str], AxisEffect]:
    found = configuration_effects(data, data.scope("all"))
    return {(effect.model, effect.axis): effect for effect in found.effects}


def test_binary_axes_are_cochrans_q_and_exact_mcnemar() -> None:
    data = study(simulate([1.0], items=60, rng=np.random.default_rng(0)))
    found = effects(data)
    assert [axis for _, axis in found] == list(AXES)
    format_effect = found["m00", "format"]
    keys = [way.key for way in data.configurations]
    columns = [keys.index(key) for key in format_effect.levels]
    assert all(key.endswith("|p0") for key in format_effect.levels)
    outcomes = data.right[0][:, columns].astype(int)
    oracle = cochrans_q(outcomes)
    assert format_effect.statistic == pytest.approx(oracle.statistic, abs=1e-10)
    # The published p-value takes conditions to be equally alike, and is then too small.
    assert format_effect.p_value == cochran_q(outcomes, dependence="any").p_value > oracle.pvalue
    assert format_effect.accuracy == pytest.approx(outcomes.mean(axis=0))
    largest = max(format_effect.pairs, key=lambda pair: pair.gap)
    a, b = (data.right[0][:, keys.index(key)] for key in (largest.first, largest.second))
    table = [[np.sum(a & b), np.sum(a & ~b)], [np.sum(~a & b), np.sum(~a & ~b)]]
    raw = float(mcnemar(np.array(table), exact=True).pvalue)
    assert largest.gap == pytest.approx(a.mean() - b.mean())
    assert raw <= largest.p_adjusted <= 6 * raw + 1e-12
    assert len(format_effect.pairs) == 6


def test_families_are_compared_by_their_means() -> None:
    data = study(simulate([1.0], items=60, rng=np.random.default_rng(1)))
    effect = effects(data)["m00", "family"]
    assert effect.levels == ("cloze", *sorted({w.format for w in data.configurations[:24]}))
    assert effect.p_value == min(pair.p_adjusted for pair in effect.pairs)
    keys = np.array([w.format for w in data.configurations])
    pair = min(effect.pairs, key=lambda pair: pair.p_adjusted)
    first, second = (
        data.right[0][:, 24:].mean(axis=1)
        if name == "cloze"
        else data.right[0][:, keys == name].mean(axis=1)
        for name in (pair.first, pair.second)
    )
    oracle = clustered_difference(first - second)
    assert (pair.gap, pair.low) == pytest.approx((oracle.interval.estimate, oracle.interval.low))
    assert pair.p_adjusted == pytest.approx(min(1, 10 * oracle.p_value), rel=0.2)


def test_shared_clusters_rule_out_tests_of_single_items() -> None:
    once = simulate([1.0], items=40, rng=np.random.default_rng(2))
    single = effects(study(once))["m00", "scoring"]
    copied = study(np.repeat(once, 5, axis=1), clusters=np.repeat(np.arange(40), 5))
    clustered = effects(copied)["m00", "scoring"]
    assert single.test.startswith("Cochran's Q")
    assert clustered.test.startswith("clustered")
    assert np.isnan(clustered.statistic)
    # Five copies of each item are no evidence.
    assert clustered.p_value > single.p_value / 20


def test_five_clusters_decide_nothing() -> None:
    correct = simulate([1.0], items=50, rng=np.random.default_rng(2))
    data = study(correct, clusters=[i % 5 for i in range(50)])
    found = configuration_effects(data, data.scope("all"))
    assert np.isnan([effect.p_value for effect in found.effects]).all()
    assert "cannot be told" in found.reading
    json.dumps(found.as_json(), allow_nan=False)


def test_nothing_varies_nothing_is_tested(tiny: Correctness) -> None:
    single = build([[[1], [0]]], keys=GRID[:1])
    assert configuration_effects(single, single.scope("all")).effects == ()
    same = configuration_effects(
        build(np.ones((1, 30, 5))), build(np.ones((1, 30, 5))).scope("all")
    )
    by_axis = {effect.axis: effect.p_value for effect in same.effects}
    assert np.isnan([by_axis[axis] for axis in ("order", "format", "scoring")]).all()
    assert by_axis["family"] == 1
    json.dumps(same.as_json(), allow_nan=False)
    assert effect_table(configuration_effects(tiny, tiny.scope("all")))["axis"].tolist()[:3] == [
        "order",
        "format",
        "scoring",
    ]


def test_reading() -> None:
    data = study(simulate([1.0, 0.5], items=240, rng=np.random.default_rng(3)))
    found = configuration_effects(data, data.scope("all"))
    assert "the family for 2 of 2 models" in found.reading
    assert "240 items" in found.reading
    with pytest.raises(AnalysisError, match="alpha"):
        configuration_effects(data, data.scope("all"), alpha=0.5)


@pytest.mark.parametrize(
    ("items", "theta"),
    [
        (25, 1.0),
        pytest.param(200, 1.0, marks=pytest.mark.slow),
        pytest.param(200, 4.0, marks=pytest.mark.slow),
    ],
)
def test_configurations_without_effect_are_rarely_said_to_matter(items: int, theta: float) -> None:
    wrong = dict.fromkeys((*AXES, "any"), 0)
    for run in range(RUNS):
        rng = np.random.default_rng([run, items, int(theta)])
        data = study(simulate([theta], items=items, rng=rng, interaction=0, effect=0))
        found = configuration_effects(data, data.scope("all")).effects
        for effect in found:
            wrong[effect.axis] += effect.p_value <= 0.05
        wrong["any"] += any(effect.p_adjusted <= 0.05 for effect in found)
    assert max(wrong.values()) < TOO_MANY, wrong


def test_effects_are_found() -> None:
    found = 0
    for run in range(40):
        rng = np.random.default_rng([run, 1])
        data = study(simulate([1.0], items=60, rng=rng, interaction=0.3, effect=0))
        found += effects(data)["m00", "family"].p_adjusted <= 0.05
    assert found >= 15
