"""One row a capability, and which of them are weak."""

from __future__ import annotations

import math

import numpy as np

from assay.evaluation.aggregates import Members, quality_aggregates, quality_values, rounded
from assay.evaluation.groups import by_tag, capabilities, code_counts, crossed, means
from assay.evaluation.policy import Policy
from assay.evaluation.results import CapabilityRow, QualityAggregate, WeaknessTest
from assay.evaluation.table import Table
from assay.evaluation.tasks import gap_of
from assay.evaluation.weak import Weakness, adjusted, weakness


def capability_matrix(table: Table, policy: Policy) -> tuple[CapabilityRow, ...]:
    """Return a row a tag of task quality, by name; an attempt counts once per tag."""
    tags = capabilities(table, table.quality)
    members = by_tag(table, tags, table.quality)
    expected = means(table.measured["expected"], members).tolist()
    areas = _areas(table, members, policy)
    codes = code_counts(table, members.only(table.verdict == 0), policy)
    tests = None if policy.points else _tests(table, members, policy)
    rows = []
    for tag, values in enumerate(quality_values(table, members, policy)):
        target = rounded(expected[tag], policy)
        row = CapabilityRow.model_construct(
            **values,
            capability=tags[tag],
            expected_success_rate=target,
            gap_to_expected=gap_of(target, values["success_rate"], policy),
            failure_codes=codes[tag],
            areas=areas[tag],
            test=None if tests is None else tests[tag],
            weak=False,
        )
        rows.append(row.model_copy(update={"weak": _weak(row, policy)}))
    return tuple(rows)


def weakest(matrix: tuple[CapabilityRow, ...]) -> tuple[CapabilityRow, ...]:
    """Return the weak capabilities: by gap, then failures, the largest first, then name."""
    weak = [row for row in matrix if row.weak]
    return tuple(
        sorted(weak, key=lambda row: (-(row.gap_to_expected or 0), -row.failures, row.capability))
    )


def _weak(row: CapabilityRow, policy: Policy) -> bool:
    if policy.points:
        gap = row.gap_to_expected
        enough = row.attempts >= policy.diagnostic_minimum_samples
        return gap is not None and enough and gap >= policy.weak_capability_gap
    p_value = None if row.test is None else row.test.adjusted_p_value
    return p_value is not None and p_value <= policy.alpha_weak


def _areas(table: Table, members: Members, policy: Policy) -> list[dict[str, QualityAggregate]]:
    names, split = (
        table.names["area"],
        crossed(members, table.codes["area"], len(table.names["area"])),
    )
    used = np.flatnonzero(np.bincount(split.groups, minlength=split.count))
    dense = np.zeros(split.count, np.int64)
    dense[used] = np.arange(used.size)
    found = quality_aggregates(table, Members(split.rows, dense[split.groups], used.size), policy)
    by_capability: list[dict[str, QualityAggregate]] = [{} for _ in range(members.count)]
    for group, aggregate in sorted(
        zip(used.tolist(), found, strict=True),
        key=lambda entry: names[entry[0] % len(names)],
    ):
        by_capability[group // len(names)][names[group % len(names)]] = aggregate
    return by_capability


def _tests(table: Table, members: Members, policy: Policy) -> list[WeaknessTest]:
    judged = members.only(table.verdict >= 0)
    order = np.argsort(judged.groups, kind="stable")
    rows, ends = judged.rows[order], np.cumsum(np.bincount(judged.groups, minlength=members.count))
    found = [_test(table, part, policy) for part in np.split(rows, ends[:-1])]
    return [
        WeaknessTest(
            p_value=_known(test.p_value),
            adjusted_p_value=_known(p_value),
            attainable_p=_known(test.attainable_p),
            tasks=test.tasks,
            method=test.method,
        )
        for test, p_value in zip(found, adjusted(found).tolist(), strict=True)
    ]


def _test(table: Table, rows: np.ndarray, policy: Policy) -> Weakness:
    if rows.size < policy.diagnostic_minimum_samples:
        return Weakness(math.nan, math.nan, int(rows.size), "too few attempts to be tested")
    _, task = np.unique(table.codes["task"][rows], return_inverse=True)
    n = np.bincount(task)
    hits = np.bincount(task, table.verdict[rows]).astype(np.int64)
    return weakness(hits, n, np.bincount(task, table.measured["expected"][rows]) / n)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
