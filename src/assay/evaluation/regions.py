"""Where failures gather: the task areas that have some."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.evaluation.aggregates import quality_values, rounded
from assay.evaluation.groups import by_code, capabilities, code_counts, tag_counts
from assay.evaluation.policy import Policy
from assay.evaluation.results import FailureRegion
from assay.evaluation.table import Bits, Table


def failure_regions(table: Table, policy: Policy) -> tuple[FailureRegion, ...]:
    """Return the areas with failures of task quality.

    The most failures come first, then the lowest success rate, then the name (point rules: the
    area that appears first).
    """
    quality = table.quality
    failed = quality & (table.verdict == 0)
    members = by_code(table, "area").only(quality)
    failures = members.only(failed)
    codes = code_counts(table, failures, policy)
    tags = tag_counts(table, failures, capabilities(table, quality), policy)
    total = int(failed.sum())
    rows = []
    for area, values in enumerate(quality_values(table, members, policy)):
        if values["failures"]:
            row = _row(values, table.names["area"][area], total, policy)
            rows.append(
                row.model_copy(update={"failure_codes": codes[area], "capabilities": tags[area]})
            )
    if not policy.points:
        rows.sort(key=lambda row: row.task_area)
    else:
        first = dict(zip(*_appearance(table, quality), strict=True))
        rows.sort(key=lambda row: first[row.task_area])
    return tuple(sorted(rows, key=lambda row: (-row.failures, row.success_rate or 0.0)))


def _row(values: dict[str, Any], area: str, total: int, policy: Policy) -> FailureRegion:
    share = rounded(values["failures"] / total, policy) or 0.0
    return FailureRegion.model_construct(
        **values, task_area=area, failure_share=share, failure_codes={}, capabilities={}
    )


def _appearance(table: Table, keep: Bits) -> tuple[list[str], list[int]]:
    codes, first = np.unique(table.codes["area"][keep], return_index=True)
    return [table.names["area"][code] for code in codes.tolist()], first.tolist()
