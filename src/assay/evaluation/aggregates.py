"""Groups of attempts in numbers, all groups at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from assay.evaluation.policy import Policy
from assay.evaluation.results import Aggregate, Bounds, QualityAggregate
from assay.evaluation.table import Bits, Floats, Ints, Table
from assay.stats import clustered_proportion_ci

#: Decimals of the point rules: of rates and scores, of latency and tokens, of cost.
RATE, MEASURE, COST = 4, 2, 6
#: Memberships that are worked on at once, where a single group has no more.
_AT_ONCE = 1 << 20
_INTERVAL = "Wilson at the effective number of attempts, tasks as clusters"


def rounded(value: float | None, policy: Policy, decimals: int = RATE) -> float | None:
    """Return a number as a report shows it: None where undefined, rounded under point rules."""
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), decimals) if policy.points else float(value)


@dataclass(frozen=True)
class Members:
    """Which attempts belong to which group; an attempt may belong to several.

    Attributes
    ----------
    rows, groups : ndarray of int, shape (membership,)
        Attempt and its group, 0 … `count` - 1.
    count : int
    """

    rows: Ints
    groups: Ints
    count: int

    @classmethod
    def all(cls, table: Table) -> Members:
        """Put every attempt into one group."""
        return cls(np.arange(len(table)), np.zeros(len(table), np.int64), 1)

    def only(self, keep: Bits) -> Members:
        """Keep the memberships of some attempts, `keep` of shape (attempt,)."""
        kept = np.asarray(keep[self.rows], bool)
        return Members(self.rows[kept], self.groups[kept], self.count)


@dataclass(frozen=True)
class _Columns:
    """The fields of `Aggregate`, each an array of shape (group,); intervals as two arrays."""

    attempts: Ints
    tasks: Ints
    unjudged: Ints
    successes: Ints
    failures: Ints
    success_rate: Floats
    success_interval: tuple[Floats, Floats]
    average_score: Floats
    average_latency_ms: Floats
    median_latency_ms: Floats
    p95_latency_ms: Floats
    latency_measured: Ints
    average_cost_usd: Floats
    cost_measured: Ints
    average_total_tokens: Floats
    average_input_tokens: Floats
    average_cached_tokens: Floats
    average_output_tokens: Floats
    tokens_measured: Ints
    safety_evaluated: Ints
    safety_violations: Ints
    safety_violation_rate: Floats
    safety_interval: tuple[Floats, Floats]


def aggregates(table: Table, members: Members, policy: Policy) -> Iterator[Aggregate]:
    """Yield one aggregate a group, in order.

    Parameters
    ----------
    table : Table
        Under the policy (`Table.under`).
    """
    for part in _parts(members):
        columns = _columns(table, part, policy)
        for group in range(part.count):
            yield Aggregate.model_construct(**_values(columns, group, policy))


def quality_aggregates(
    table: Table, members: Members, policy: Policy
) -> Iterator[QualityAggregate]:
    """Yield one aggregate of task quality a group: attempts of the infrastructure left out."""
    for values in quality_values(table, members, policy):
        yield QualityAggregate.model_construct(**values)


def quality_values(table: Table, members: Members, policy: Policy) -> Iterator[dict[str, Any]]:
    """Yield the fields of `QualityAggregate` of each group, for a row that has more of them."""
    for part in _parts(members):
        raw = np.bincount(part.groups, minlength=part.count).tolist()
        columns = _columns(table, part.only(table.quality), policy)
        for group, count in enumerate(raw):
            excluded = count - int(columns.attempts[group])
            yield {
                **_values(columns, group, policy),
                "raw_attempts": count,
                "excluded_infrastructure_failures": excluded,
                "infrastructure_failure_rate": rounded(excluded / count if count else None, policy),
            }


def _parts(members: Members) -> Iterator[Members]:
    """Yield some groups after the other, so that working memory does not grow with all of them."""
    if members.rows.size <= _AT_ONCE:
        yield members
        return
    sizes, start = np.bincount(members.groups, minlength=members.count), 0
    while start < members.count:
        ends = np.cumsum(sizes[start:])
        stop = start + max(1, int(np.searchsorted(ends, _AT_ONCE, side="right")))
        inside = (members.groups >= start) & (members.groups < stop)
        yield Members(members.rows[inside], members.groups[inside] - start, stop - start)
        start = stop


def _values(columns: _Columns, group: int, policy: Policy) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in fields(columns):
        column = getattr(columns, field.name)
        if isinstance(column, tuple):
            values[field.name] = _bounds(column[0][group], column[1][group], policy)
        elif column.dtype.kind == "f":
            values[field.name] = rounded(float(column[group]), policy, _decimals(field.name))
        else:
            values[field.name] = int(column[group])
    return values


def _bounds(low: float, high: float, policy: Policy) -> Bounds | None:
    if math.isnan(low):
        return None
    return Bounds.model_construct(
        low=rounded(float(low), policy), high=rounded(float(high), policy), method=_INTERVAL
    )


def _decimals(field: str) -> int:
    if field.endswith(("_latency_ms", "_tokens")):
        return MEASURE
    return COST if field.endswith("_usd") else RATE


def _columns(table: Table, members: Members, policy: Policy) -> _Columns:
    groups, count = members.groups, members.count
    verdict, task = table.verdict[members.rows], table.codes["task"][members.rows]
    judged = verdict >= 0
    rate = _Share.of(verdict, task, members, policy.level)
    safety = _Share.of(table.unsafe[members.rows], task, members, policy.level)
    means = {name: _mean(table, name, members) for name in ("score", "latency", "cost", "total")}
    parts = {name: _mean(table, name, members)[0] for name in ("input", "cached", "output")}
    median, p95 = _quantiles(table.measured["latency"][members.rows], groups, count, (0.5, 0.95))
    attempts = np.bincount(groups, minlength=count)
    return _Columns(
        attempts=attempts,
        tasks=_distinct(groups, task, count),
        unjudged=attempts - np.bincount(groups[judged], minlength=count),
        successes=rate.hits,
        failures=rate.n - rate.hits,
        success_rate=rate.estimate,
        success_interval=(rate.low, rate.high),
        average_score=means["score"][0],
        average_latency_ms=means["latency"][0],
        median_latency_ms=median,
        p95_latency_ms=p95,
        latency_measured=means["latency"][1],
        average_cost_usd=means["cost"][0],
        cost_measured=means["cost"][1],
        average_total_tokens=means["total"][0],
        average_input_tokens=parts["input"],
        average_cached_tokens=parts["cached"],
        average_output_tokens=parts["output"],
        tokens_measured=means["total"][1],
        safety_evaluated=safety.n,
        safety_violations=safety.hits,
        safety_violation_rate=safety.estimate,
        safety_interval=(safety.low, safety.high),
    )


@dataclass(frozen=True)
class _Share:
    """The share of ones among the zeros and ones of each group, tasks as clusters."""

    hits: Ints
    n: Ints
    estimate: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, bits: Ints, task: Ints, members: Members, level: float) -> _Share:
        known = bits >= 0
        groups, tasks = members.groups[known], int(task.max(initial=0)) + 1
        keys, place = np.unique(groups * tasks + task[known], return_inverse=True)
        sizes = np.bincount(place, minlength=keys.size)
        hits = np.bincount(place, bits[known], keys.size).astype(np.int64)
        of_group, count = keys // tasks, members.count
        found = clustered_proportion_ci(hits, sizes, of_group, count=count, level=level)
        return cls(
            hits=np.bincount(of_group, hits, count).astype(np.int64),
            n=np.bincount(of_group, sizes, count).astype(np.int64),
            estimate=np.asarray(found.estimate),
            low=np.asarray(found.low),
            high=np.asarray(found.high),
        )


def _mean(table: Table, name: str, members: Members) -> tuple[Floats, Ints]:
    """Return the mean of what was measured in each group, NaN for nothing, and its number."""
    values = table.measured[name][members.rows]
    known = ~np.isnan(values)
    n = np.bincount(members.groups[known], minlength=members.count)
    total = np.bincount(members.groups[known], values[known], members.count)
    with np.errstate(invalid="ignore"):
        return total / np.where(n > 0, n, np.nan), n


def _distinct(groups: Ints, task: Ints, count: int) -> Ints:
    tasks = int(task.max(initial=0)) + 1
    return np.bincount(np.unique(groups * tasks + task) // tasks, minlength=count)


def _quantiles(values: Floats, groups: Ints, count: int, at: tuple[float, ...]) -> list[Floats]:
    """Return quantiles of each group by linear interpolation, NaN where nothing was measured."""
    known = ~np.isnan(values)
    order = np.lexsort((values[known], groups[known]))
    ordered = np.append(values[known][order], np.nan)
    n = np.bincount(groups[known], minlength=count)
    start = np.cumsum(n) - n
    found = []
    for share in at:
        place = share * np.maximum(n - 1, 0)
        below = np.floor(place).astype(np.int64)
        left = ordered[np.where(n > 0, start + below, -1)]
        right = ordered[np.where(n > 0, np.minimum(start + below + 1, start + n - 1), -1)]
        found.append(left + (right - left) * (place - below))
    return found
