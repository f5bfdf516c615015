"""Which records make up an arm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from assay.core.errors import EvaluationError
from assay.evaluation.manifest import Filters
from assay.evaluation.record import EvaluationRecord

#: What filters name of the records.
_CHOSEN = ("variants", "areas", "tags")


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
    hand = AtHand()
    last: dict[str, int] = {}
    seen: set[tuple[str, int]] = set()
    most = min((one.attempts for one in filters if one.attempts is not None), default=math.inf)
    for record in records:
        hand.see(record)
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
        raise hand.nothing_left(filters, name=name, where=where)


class AtHand:
    """What the records have that filters may choose by."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {name: set() for name in _CHOSEN}

    def see(self, record: EvaluationRecord) -> None:
        """Note what a record has."""
        self._seen["variants"].add(record.variant)
        self._seen["areas"].add(record.task_area)
        self._seen["tags"].update(record.capability_tags)

    def nothing_left(
        self, filters: Sequence[Filters], *, name: str, where: str, most: int = 12
    ) -> EvaluationError:
        """Return the error for filters that leave no record: it names what they may choose."""
        if not self._seen["variants"]:
            return EvaluationError(
                f"{name} has no record.", where=where, fix="see whether the run ended, and where."
            )
        asked = [key for key in _CHOSEN if any(getattr(one, key) for one in filters)]
        said = []
        for key in asked or ["variants"]:
            names = sorted(self._seen[key])
            more = f" and {len(names) - most} more" if len(names) > most else ""
            said.append(f"{key} at hand: {', '.join(names[:most])}{more}")
        return EvaluationError(
            f"no record of {name} is left by its filters.", where=where, fix=f"{'; '.join(said)}."
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
