from __future__ import annotations

from assay.report.findings import _TITLES, finding_rows
from assay.report.inputs import ReportOptions, read_inputs
from support.reports import SmallStudy


def test_every_finding_of_every_scope_has_a_question(study: SmallStudy) -> None:
    inputs = read_inputs(study.leaderboard, study.tables, study.shards, ReportOptions())
    rows = finding_rows(inputs)
    assert len(rows) == sum(len(found) for found in inputs.summary.findings.values())
    assert {row["benchmark"] for row in rows} == {"all", "arc", "mmlu"}
    named = {row["name"] for row in rows} - {"permutation_null"}
    assert named <= set(_TITLES)
    assert all(row["title"].endswith("?") for row in rows)
    shuffled = {row["title"] for row in rows if row["name"] == "permutation_null"}
    assert len(shuffled) == 4


def test_no_reading_is_broken(study: SmallStudy) -> None:
    inputs = read_inputs(study.leaderboard, study.tables, study.shards, ReportOptions())
    for row in finding_rows(inputs):
        assert row["reading"].endswith("."), row
        assert "nan" not in row["reading"].lower(), row
        assert "  " not in row["reading"], row
