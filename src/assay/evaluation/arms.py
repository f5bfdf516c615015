"""The arms of a cycle: records of a run, or of the part of it that the filters choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from assay.core.errors import EvaluationError
from assay.evaluation.manifest import Filters
from assay.evaluation.record import EvaluationRecord


def select(
    records: Iterable[EvaluationRecord], filters: Filters, *, name: str, where: str
) -> tuple[EvaluationRecord, ...]:
    """Return the records that `filters` choose, as the arm `name`, in their order.

    Where two of them say that they are the same attempt (several jobs or variants make up the arm),
    the attempts at each task are counted anew: each stays an attempt of its own.

    Raises
    ------
    EvaluationError
        If none remains; the variants at hand are named.
    """
    given = list(records)
    chosen = [record for record in given if _belongs(record, filters)]
    if not chosen:
        raise EvaluationError(
            f"no record of {name} is left by its filters ({len(given)} before)."
            if given
            else f"{name} has no record.",
            where=where,
            fix=f"variants at hand: {_names(given)}." if given else "see whether the run ended.",
        )
    several = len({(record.task_id, record.attempt) for record in chosen}) < len(chosen)
    counted: Counter[str] = Counter()
    arm = []
    for record in chosen:
        counted[record.task_id] += 1
        attempt = counted[record.task_id] if several else record.attempt
        if filters.attempts is None or attempt <= filters.attempts:
            arm.append(record.model_copy(update={"variant": name, "attempt": attempt}))
    return tuple(arm)


def _belongs(record: EvaluationRecord, filters: Filters) -> bool:
    return (
        _matches((record.variant,), filters.variants)
        and _matches((record.task_id,), filters.tasks)
        and _matches((record.task_area,), filters.areas)
        and _matches(record.capability_tags, filters.tags)
    )


def _matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    if not patterns:
        return True
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _names(records: Iterable[EvaluationRecord], *, most: int = 12) -> str:
    names = sorted({record.variant for record in records})
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
