"""How the failure codes of two arms, or of two cycles, differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.evaluation.table import Table
from assay.evaluation.verdicts import CodeChange


def code_changes(baseline: Table, candidate: Table) -> tuple[CodeChange, ...]:
    """Return the failed attempts of task quality by code, the largest change first."""
    return changes(_counts(baseline), _counts(candidate))


def changes(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[CodeChange, ...]:
    """Return how counts of codes changed, the largest change first, then by name."""
    rows = [
        CodeChange(
            failure_code=code,
            baseline_count=before.get(code, 0),
            candidate_count=after.get(code, 0),
            count_delta=after.get(code, 0) - before.get(code, 0),
        )
        for code in sorted({*before, *after})
    ]
    return tuple(sorted(rows, key=lambda row: -abs(row.count_delta)))


def _counts(table: Table) -> dict[str, int]:
    failed = table.quality & (table.verdict == 0) & (table.codes["code"] >= 0)
    codes, counts = np.unique(table.codes["code"][failed], return_counts=True)
    return {
        table.names["code"][code]: count
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
    }
