"""Which attempts of two arms are compared: the k-th at a task with the k-th at the same task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.errors import EvaluationError
from assay.evaluation.policy import Policy
from assay.evaluation.table import UNKNOWN, Bits, Ints, Table
from assay.evaluation.verdicts import Coverage


@dataclass(frozen=True)
class Pairs:
    """Matched attempts of two arms.

    Attributes
    ----------
    tasks : list of str
        Every task of either arm, sorted.
    task : ndarray of int, shape (pair,)
        Place in `tasks`.
    baseline, candidate : ndarray of int, shape (pair,)
        Row in the arm's table; -1 where the arm has no attempt at the task.
    coverage : Coverage
    """

    tasks: list[str]
    task: Ints
    baseline: Ints
    candidate: Ints
    coverage: Coverage

    @property
    def common(self) -> Bits:
        """The pairs of which both arms have an attempt."""
        return (self.baseline >= 0) & (self.candidate >= 0)

    def values(self, column: str, baseline: Table, candidate: Table) -> tuple[Ints, Ints]:
        """Return a column of bits of both arms, -1 where unknown or not attempted."""
        first, second = getattr(baseline, column), getattr(candidate, column)
        return (
            np.where(self.baseline >= 0, first[self.baseline], UNKNOWN).astype(np.int64),
            np.where(self.candidate >= 0, second[self.candidate], UNKNOWN).astype(np.int64),
        )


def pair(baseline: Table, candidate: Table, policy: Policy) -> Pairs:
    """Match the attempts of two arms.

    Tasks of one arm alone are paired with nothing, once for each attempt up to the most that a
    common task has.

    Raises
    ------
    EvaluationError
        If the arms have no task in common, or a task was changed between them and the policy
        does not leave such tasks out.
    """
    tasks = sorted({*_names(baseline), *_names(candidate)})
    place = {name: k for k, name in enumerate(tasks)}
    arms = [_ordered(table, place, len(tasks)) for table in (baseline, candidate)]
    changed = _changed(baseline, candidate, tasks, policy)
    counts = np.array([[rows.size for rows in arm] for arm in arms]).T
    common: Bits = np.asarray((counts > 0).all(axis=1))
    common[[place[name] for name in changed]] = False
    if not common.any():
        raise EvaluationError(
            "the arms have no task in common.",
            fix="compare runs of the same tasks; `taskId` undoes a renaming.",
        )
    most = int(counts[common].min(axis=1).max())
    parts = [
        (k, *_matched(arms[0][k], arms[1][k], most))
        for k in range(len(tasks))
        if common[k] or not counts[k].all()
    ]
    task = np.concatenate([np.full(first.size, k) for k, first, _ in parts])
    first = np.concatenate([rows for _, rows, _ in parts])
    second = np.concatenate([rows for _, _, rows in parts])
    alone = [[tasks[k] for k in np.flatnonzero(~counts.all(axis=1) & (counts[:, a] > 0))]
             for a in (0, 1)]  # fmt: skip
    return Pairs(
        tasks,
        task,
        first,
        second,
        Coverage(
            paired_tasks=int(common.sum()),
            paired_attempts=int(((first >= 0) & (second >= 0)).sum()),
            baseline_only=tuple(alone[0]),
            candidate_only=tuple(alone[1]),
            changed_versions=tuple(changed),
        ),
    )


def _names(table: Table) -> list[str]:
    return [table.names["task"][code] for code in np.unique(table.codes["task"])]


def _ordered(table: Table, place: dict[str, int], count: int) -> list[Ints]:
    """Return the rows of each task, in the order of their attempts."""
    number = np.array([place.get(name, -1) for name in table.names["task"]], np.int64)
    task = number[table.codes["task"]]
    order = np.lexsort((table.attempt, task))
    ends = np.cumsum(np.bincount(task, minlength=count))
    return np.split(order, ends[:-1])


def _matched(first: Ints, second: Ints, most: int) -> tuple[Ints, Ints]:
    if first.size and second.size:
        n = min(first.size, second.size)
        return first[:n], second[:n]
    n = min(most, max(first.size, second.size))
    nothing = np.full(n, UNKNOWN)
    return (first[:n], nothing) if first.size else (nothing, second[:n])


def _changed(baseline: Table, candidate: Table, tasks: Sequence[str], policy: Policy) -> list[str]:
    """Return the common tasks whose checksums differ."""
    first, second = _versions(baseline), _versions(candidate)
    changed = [t for t in tasks if first.get(t) and second.get(t) and first[t] != second[t]]
    if changed and policy.changed_versions == "refuse" and not policy.points:
        raise EvaluationError(
            f"{len(changed)} tasks were changed between the arms, such as {changed[0]}.",
            fix="run both arms on one version, or set changed_versions: exclude.",
        )
    return [] if policy.points else changed


def _versions(table: Table) -> dict[str, set[str]]:
    codes = np.stack([table.codes["task"], table.codes["version"]])
    found: dict[str, set[str]] = {}
    for task, version in np.unique(codes[:, codes[1] >= 0], axis=1).T.tolist():
        found.setdefault(table.names["task"][task], set()).add(table.names["version"][version])
    return found
