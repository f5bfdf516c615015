"""What changed in the pattern of failures from one cycle to the next."""

from __future__ import annotations

import math
from collections import Counter

from assay.evaluation.patterns import changes
from assay.evaluation.results import Bounds, Diagnosis, FailureRegion, QualityAggregate, Result
from assay.evaluation.verdicts import CodeChange


class CapabilityShift(Result):
    """A capability's success rate in two cycles, and whether it was and is weak."""

    capability: str
    previous_rate: float | None
    current_rate: float | None
    previously_weak: bool
    weak: bool


class RegionShift(Result):
    """A task area's failures in two cycles."""

    task_area: str
    previous_failures: int
    current_failures: int
    previous_share: float
    current_share: float


class CycleChange(Result):
    """What changed in the failure pattern since the previous cycle; descriptive, not tested.

    Attributes
    ----------
    success_rate_change : Bounds or None
        95 % interval of the difference of two separate samples of attempts.
    codes : tuple of CodeChange
        `baseline_count` is the previous cycle's.
    """

    previous_rate: float | None
    current_rate: float | None
    success_rate_change: Bounds | None
    codes: tuple[CodeChange, ...]
    regions: tuple[RegionShift, ...]
    capabilities: tuple[CapabilityShift, ...]


def compare_cycles(previous: Diagnosis, current: Diagnosis) -> CycleChange:
    """Return what changed from one cycle's diagnosis to the next."""
    before, after = previous.task_quality, current.task_quality
    return CycleChange(
        previous_rate=before.success_rate,
        current_rate=after.success_rate,
        success_rate_change=_change(before, after),
        codes=changes(_codes(previous), _codes(current)),
        regions=_regions(previous, current),
        capabilities=_capabilities(previous, current),
    )


def _change(before: QualityAggregate, after: QualityAggregate) -> Bounds | None:
    """Newcombe's interval from the two clustered ones (1998, Statistics in Medicine 17:873)."""
    first, second = before.success_interval, after.success_interval
    if first is None or second is None or None in (first.low, first.high, second.low, second.high):
        return None
    p, q = before.success_rate or 0.0, after.success_rate or 0.0
    low, high = _distances(p, first), _distances(q, second)
    return Bounds(
        low=q - p - math.hypot(high[0], low[1]),
        high=q - p + math.hypot(high[1], low[0]),
        method="Newcombe from clustered Wilson intervals, two separate samples",
    )


def _distances(rate: float, interval: Bounds) -> tuple[float, float]:
    return rate - (interval.low or 0.0), (interval.high or 0.0) - rate


def _codes(diagnosis: Diagnosis) -> Counter[str]:
    total: Counter[str] = Counter()
    for region in diagnosis.failure_regions:
        total.update(region.failure_codes)
    return total


def _regions(previous: Diagnosis, current: Diagnosis) -> tuple[RegionShift, ...]:
    before = {region.task_area: region for region in previous.failure_regions}
    after = {region.task_area: region for region in current.failure_regions}

    def of(found: FailureRegion | None) -> tuple[int, float]:
        return (0, 0.0) if found is None else (found.failures, found.failure_share)

    rows = []
    for area in sorted({*before, *after}):
        (n, share), (m, now) = of(before.get(area)), of(after.get(area))
        rows.append(
            RegionShift(
                task_area=area,
                previous_failures=n,
                current_failures=m,
                previous_share=share,
                current_share=now,
            )
        )
    return tuple(sorted(rows, key=lambda row: -abs(row.current_failures - row.previous_failures)))


def _capabilities(previous: Diagnosis, current: Diagnosis) -> tuple[CapabilityShift, ...]:
    before = {row.capability: row for row in previous.capability_matrix}
    after = {row.capability: row for row in current.capability_matrix}
    rows = []
    for tag in sorted({*before, *after}):
        old, new = before.get(tag), after.get(tag)
        rows.append(
            CapabilityShift(
                capability=tag,
                previous_rate=None if old is None else old.success_rate,
                current_rate=None if new is None else new.success_rate,
                previously_weak=old is not None and old.weak,
                weak=new is not None and new.weak,
            )
        )
    return tuple(rows)
