"""The interactive charts' specifications."""

from __future__ import annotations

from typing import Any

import pandas as pd

from assay.report.charts import charts
from assay.report.inputs import ReportOptions, read_inputs
from support.reports import SmallStudy


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    (data,) = spec["datasets"].values()
    return list(data)


def test_charts_hold_the_numbers_of_the_tables(study: SmallStudy) -> None:
    inputs = read_inputs(study.leaderboard, study.tables, study.shards, ReportOptions())
    drawn = charts(inputs)
    accuracy = inputs.tables["accuracy"]
    assert [row["accuracy"] for row in rows(drawn["accuracy"])] == list(accuracy["accuracy"])
    assert len(rows(drawn["ranks"])) == len(inputs.tables["ranks"])
    pairs = inputs.tables["pairs"]
    for row, gap in zip(rows(drawn["gaps"]), pairs[pairs["adjacent"]]["gap"], strict=True):
        assert row["gap"] == gap
        assert abs(row["fragile items"] + row["robust items"] - gap) < 1e-9


def test_every_chart_obeys_the_page(study: SmallStudy) -> None:
    inputs = read_inputs(study.leaderboard, study.tables, study.shards, ReportOptions())
    for spec in charts(inputs).values():
        assert {"name": "benchmark", "value": "all"} in spec["params"]
        assert "config" not in spec


def test_many_rows_are_no_error(study: SmallStudy) -> None:
    inputs = read_inputs(study.leaderboard, study.tables, study.shards, ReportOptions())
    table = inputs.tables["accuracy"]
    inputs.tables["accuracy"] = pd.concat([table] * (6_000 // len(table) + 1), ignore_index=True)
    assert len(rows(charts(inputs)["accuracy"])) > 5_000
