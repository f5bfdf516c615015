from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.wrappers import wrapper_table, wrappers
from assay.records.schema import STATUSES
from assay.stats.clusters import clustered_difference
from support.twin import simulate

from .builders import GRID, build
from .grids import study


def unparsed(data: Correctness, form: str, items: int) -> Correctness:
    """Return `data` with the first answers under a format unusable, and so wrong."""
    along = [k for k, way in enumerate(data.configurations) if way.format == form]
    statuses, values = data.statuses.copy(), data.values.copy()
    statuses[:, :items, along] = STATUSES.index("none")
    values[:, :items, along] = 0
    return replace(data, statuses=statuses, values=values)


def test_by_hand(tiny: Correctness) -> None:
    data = unparsed(tiny, "g", 2)
    found = wrappers(data, data.scope("all"))
    assert found.formats == ("f", "g")
    assert found.accuracy[0].tolist() == [0.625, 0.125]
    assert found.parsed[0].tolist() == [1, 0.5]
    assert found.fsi[0].estimate == 0.5
    assert found.psi[0].estimate == 0.5
    assert np.isnan(found.fsi[0].low)  # four items are too few for an interval
    assert not found.matched
    assert "formats not matched in length" in found.reading
    json.dumps(found.as_json(), allow_nan=False)
    assert wrapper_table(found)["fsi"].tolist() == [0.5, 0.5, 0.25]


def test_intervals_allow_for_having_picked_the_extremes() -> None:
    data = study(simulate([1.0], items=100, rng=np.random.default_rng(0)))
    found = wrappers(data, data.scope("all"))
    order = np.argsort(found.accuracy[0])
    high, low = (
        data.right[0][:, [w.format == found.formats[f] for w in data.configurations]].mean(axis=1)
        for f in (order[-1], order[0])
    )
    oracle = clustered_difference(high - low, level=1 - 0.05 / 6).interval
    assert (found.fsi[0].low, found.fsi[0].high) == pytest.approx((oracle.low, oracle.high))


def test_compliance_is_told_from_knowledge() -> None:
    data = unparsed(study(np.ones((1, 100, 26), bool)), "digit_labels", 30)
    found = wrappers(data, data.scope("all"))
    assert found.fsi[0].estimate == found.psi[0].estimate == 0.3
    matched = wrappers(data, data.scope("all"), matched=("letter_plain", "letter_paren"))
    assert matched.matched
    assert matched.fsi[0].estimate == matched.psi[0].estimate == 0
    assert "2 formats of one length" in matched.reading


def test_unknown_formats_are_refused(tiny: Correctness) -> None:
    with pytest.raises(AnalysisError, match="were not asked"):
        wrappers(tiny, tiny.scope("all"), matched=("f", "nothing"))


def test_one_format_is_no_comparison() -> None:
    data = build([[[1], [0]]], keys=GRID[:1])
    found = wrappers(data, data.scope("all"))
    assert np.isnan(found.fsi[0].estimate)
    assert "unknown" in found.reading
    assert np.isnan(found.accuracy).sum() == 0


def test_equal_formats_rarely_exclude_zero() -> None:
    """Picking the largest difference would be wrong far more often without the correction."""
    wrong = naive = 0
    for run in range(300):
        rng = np.random.default_rng([run, 3])
        data = study(simulate([1.0], items=60, rng=rng, interaction=0, effect=0))
        wrong += wrappers(data, data.scope("all")).fsi[0].low > 0
        naive += wrappers(data, data.scope("all"), level=1 - 6 * 0.05).fsi[0].low > 0
    assert wrong < 26
    assert naive > 26
