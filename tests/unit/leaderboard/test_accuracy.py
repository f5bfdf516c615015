from __future__ import annotations

import numpy as np
import pytest

from assay.leaderboard.accuracy import accuracy_table
from assay.leaderboard.correctness import MISSING, NOT_APPLICABLE, Correctness
from assay.records.schema import STATUSES
from assay.stats import proportion_ci

from .builders import GRID, build


def test_by_hand(tiny: Correctness) -> None:
    table = accuracy_table(tiny).set_index(["model", "benchmark", "configuration"])
    assert len(table) == 3 * 2 * 5
    row = table.loc[("m00", "b", "gen|f|p0")]
    assert (row["n"], row["correct"], row["accuracy"]) == (4, 3, 0.75)
    assert (row["scoring"], row["format"], row["order"]) == ("gen", "f", "p0")
    interval = proportion_ci(3, 4)
    assert (row["low"], row["high"]) == (interval.low, interval.high)
    assert row["chance"] == 0.25
    accuracy = [table.loc[("m01", "all", key)]["accuracy"] for key in GRID]
    assert accuracy == [0.5, 0.5, 0, 0, 0.75]


def test_missing_and_inapplicable_are_outside_the_denominator() -> None:
    data = build([[[1, 1, 1, 1, 1], [0, MISSING, 1, NOT_APPLICABLE, 1]]])
    table = accuracy_table(data).set_index(["benchmark", "configuration"])
    assert table.loc["b"]["n"].tolist() == [2, 1, 2, 1, 2]
    assert table.loc["b"]["accuracy"].tolist() == [0.5, 1, 1, 1, 1]


def test_missing_observations_bound_the_accuracy() -> None:
    data = build([[[1, 1, 1, 1, 1], [0, MISSING, 1, NOT_APPLICABLE, 1], [1, MISSING, 1, 1, 1]]])
    table = accuracy_table(data).set_index(["benchmark", "configuration"]).loc["b"]
    assert table["missing"].tolist() == [0, 2, 0, 0, 0]
    assert table["lowest"].tolist() == [2 / 3, 1 / 3, 1, 1, 1]
    assert table["highest"].tolist() == [2 / 3, 1, 1, 1, 1]


def test_an_unasked_configuration_has_no_row() -> None:
    values = np.ones((1, 2, 5))
    values[:, :, 3] = NOT_APPLICABLE
    assert "gen|g|p1" not in set(accuracy_table(build(values))["configuration"])


def test_compliance_stands_beside_accuracy(tiny: Correctness) -> None:
    statuses = tiny.statuses.copy()
    statuses[0, 3, 0] = STATUSES.index("refusal")
    data = Correctness(**{**vars_of(tiny), "statuses": statuses})
    row = accuracy_table(data).iloc[0]
    assert (row["n"], row["parsed"], row["compliance"]) == (4, 3, 0.75)
    assert row["accuracy_parsed"] == 1


def test_nothing_usable_leaves_no_accuracy_among_usable(tiny: Correctness) -> None:
    data = build(np.zeros((1, 2, 5)))
    refused = np.full_like(data.statuses, STATUSES.index("refusal"))
    table = accuracy_table(Correctness(**{**vars_of(data), "statuses": refused}))
    assert (table["compliance"] == 0).all()
    assert table["accuracy_parsed"].isna().all()


def test_pooling_counts_every_item_once() -> None:
    values = np.ones((1, 4, 5))
    values[0, 3] = 0
    table = accuracy_table(build(values, benchmarks=["a", "a", "a", "b"]))
    first = table[table["configuration"] == GRID[0]].set_index("benchmark")["accuracy"]
    assert first.to_dict() == pytest.approx({"all": 0.75, "a": 1, "b": 0})


def vars_of(data: Correctness) -> dict:
    return {name: getattr(data, name) for name in data.__dataclass_fields__}
