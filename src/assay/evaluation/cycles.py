"""What changed in the pattern of failures from one cycle to the next."""

from __future__ import annotations

from assay.evaluation.results import Bounds, Result
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
