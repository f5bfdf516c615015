"""Tables as the page shows them."""

from __future__ import annotations

import math

import pandas as pd

from assay.plots.tables import read_table
from assay.report.inputs import ReportOptions, read_inputs
from assay.report.views import (
    audit_table,
    leaderboard_rows,
    null_rows,
    p_text,
    pair_rows,
    percent,
    share_cell,
    signed,
    status_table,
)
from support.reports import SmallStudy


def test_numbers_without_a_value_are_a_dash_and_sort_last() -> None:
    assert percent(math.nan) == signed(math.nan) == p_text(math.nan) == "–"
    assert share_cell(math.nan).key < share_cell(0.0).key


def test_a_difference_that_rounds_to_zero_has_no_sign() -> None:
    assert signed(-0.0001) == "0.0"


def test_leaderboard_rows_are_ordered_and_complete(study: SmallStudy) -> None:
    inputs = read_inputs(study.leaderboard, study.tables, study.shards, ReportOptions())
    rows = leaderboard_rows(inputs)
    band = read_table(study.tables, "band")
    assert len(rows) == len(band)
    pooled = [row for row in rows if row["benchmark"] == "all"]
    keys = [row["reference"].key for row in pooled]
    assert keys == sorted(keys, reverse=True)
    first = band[(band["benchmark"] == "all") & (band["model"] == pooled[0]["model"])].iloc[0]
    assert pooled[0]["reference"].text == f"{100 * first['reference']:.1f}"
    assert pooled[0]["strip"]["min"] == round(100 * first["min"], 2)


def test_pairs_statuses_audit_and_bands_have_what_the_tables_have(study: SmallStudy) -> None:
    inputs = read_inputs(study.leaderboard, study.tables, study.shards, ReportOptions())
    pairs = read_table(study.tables, "pairs")
    assert [row["verdict"] for row in pair_rows(inputs)] == list(pairs["verdict"])
    statuses, rows = status_table(inputs)
    counted = read_table(study.tables, "statuses")
    pooled = counted[counted["benchmark"] == "all"]
    assert statuses[0] == "ok"
    assert sum(row["n"] for row in rows) == pooled["n"].sum()
    others, audit = audit_table(inputs)
    assert "standard" not in others
    assert [row["model"] for row in audit] == sorted(inputs.models)
    assert len(null_rows(inputs)) == len(inputs.summary.null_bands["all"])


def test_an_undefined_band_has_no_drawing(study: SmallStudy) -> None:
    inputs = read_inputs(study.leaderboard, study.tables, study.shards, ReportOptions())
    band: pd.DataFrame = inputs.tables["band"].copy()
    band[["reference", "min", "max"]] = math.nan
    inputs.tables["band"] = band
    assert all(row["strip"] is None for row in leaderboard_rows(inputs))
