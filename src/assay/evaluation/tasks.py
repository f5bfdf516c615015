"""One row a task."""

from __future__ import annotations

import numpy as np

from assay.evaluation.aggregates import quality_values, rounded
from assay.evaluation.groups import by_code, code_counts, means
from assay.evaluation.policy import Policy
from assay.evaluation.results import TaskRow
from assay.evaluation.table import Table


def gap_of(expected: float | None, rate: float | None, policy: Policy) -> float | None:
    """Return how far a rate is below expectation, from the numbers as they are shown."""
    return None if expected is None or rate is None else rounded(expected - rate, policy)


def task_table(table: Table, policy: Policy) -> tuple[TaskRow, ...]:
    """Return a row a task, by gap (the largest first, None last) and name.

    Failure codes are those of every attempt that did not succeed, of the infrastructure too.
    """
    members = by_code(table, "task")
    codes = code_counts(table, members.only(table.verdict != 1), policy)
    expected = means(table.measured["expected"], members).tolist()
    # np.unique gives the place where each task appears first.
    first = np.unique(table.codes["task"], return_index=True)
    area_of = dict(zip(first[0].tolist(), table.codes["area"][first[1]].tolist(), strict=True))
    tags = _tags(table)
    rows = []
    for task, values in enumerate(quality_values(table, members, policy)):
        if not values["raw_attempts"]:
            continue
        target = rounded(expected[task], policy)
        rows.append(
            TaskRow.model_construct(
                **values,
                task_id=table.names["task"][task],
                task_area=table.names["area"][area_of[task]],
                capability_tags=tags[task],
                expected_success_rate=target,
                gap_to_expected=gap_of(target, values["success_rate"], policy),
                failure_codes=codes[task],
            )
        )
    return tuple(sorted(rows, key=_by_gap))


def _by_gap(row: TaskRow) -> tuple[bool, float, str]:
    gap = row.gap_to_expected
    return gap is None, -(gap or 0.0), row.task_id


def _tags(table: Table) -> dict[int, tuple[str, ...]]:
    """Return task → the union of its attempts' tags, sorted."""
    width = len(table.tag_names)
    keys = np.unique(table.codes["task"].astype(np.int64) * width + table.codes["tags"])
    found: dict[int, set[str]] = {}
    for task, tags in zip((keys // width).tolist(), (keys % width).tolist(), strict=True):
        found.setdefault(task, set()).update(table.tag_names[tags])
    return {task: tuple(sorted(tags)) for task, tags in found.items()}
