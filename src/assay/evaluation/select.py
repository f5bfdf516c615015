"""Which records make up an arm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from assay.core.errors import EvaluationError
from assay.evaluation.manifest import Filters
from assay.evaluation.record import EvaluationRecord


def select(
    records: Iterable[EvaluationRecord], filters: Sequence[Filters], *, name: str, where: str
) -> Iterator[EvaluationRecord]:
    """Yield the records that all `filters` choose, as the arm `name`, in their order.

    Where one says that it is an attempt that was there already (several jobs or variants make up
    the arm), it counts as the next attempt at its task.

    Raises
    ------
    EvaluationError
        At the end, if none was chosen; the variants at hand are named.
    """
    variants: set[str] = set()
    last: dict[str, int] = {}
    seen: set[tuple[str, int]] = set()
    most = min((one.attempts for one in filters if one.attempts is not None), default=math.inf)
    for record in records:
        variants.add(record.variant)
        if not all(belongs(record, one) for one in filters):
            continue
        task, attempt = record.task_id, record.attempt
        if (task, attempt) in seen:
            attempt = last[task] + 1
        seen.add((task, attempt))
        last[task] = max(attempt, last.get(task, 0))
        if attempt <= most:
            yield record.model_copy(update={"variant": name, "attempt": attempt})
    if not seen:
        raise nothing_left(variants, name=name, where=where)


def nothing_left(variants: set[str], *, name: str, where: str, most: int = 12) -> EvaluationError:
    """Return the error for filters that leave no record."""
    if not variants:
        return EvaluationError(
            f"{name} has no record.", where=where, fix="see whether the run ended, and where."
        )
    names = sorted(variants)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return EvaluationError(
        f"no record of {name} is left by its filters.",
        where=where,
        fix=f"variants at hand: {', '.join(names[:most])}{more}.",
    )


def belongs(record: EvaluationRecord, filters: Filters) -> bool:
    """Return whether a record matches every list of the filters."""
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
