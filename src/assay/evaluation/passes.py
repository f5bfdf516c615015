"""Repeated attempts: pass@k, pass^k, and how often two attempts at a task disagree."""

from __future__ import annotations

import numpy as np

from assay.evaluation.results import PassRate
from assay.evaluation.table import Ints, Table
from assay.stats import pass_at_k, pass_hat_k

_SIZES = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)


def judged_by_task(table: Table) -> tuple[Ints, Ints]:
    """Return successes and judged attempts of each task of task quality with at least one."""
    rows = table.quality & (table.verdict >= 0)
    _, task = np.unique(table.codes["task"][rows], return_inverse=True)
    hits = np.bincount(task, table.verdict[rows]).astype(np.int64)
    return hits, np.bincount(task).astype(np.int64)


def pass_rates(table: Table) -> tuple[PassRate, ...]:
    """Return both rates for each k up to the most attempts, over tasks with at least k."""
    hits, n = judged_by_task(table)
    rates = []
    for k in (k for k in _SIZES if k <= n.max(initial=0)):
        enough = n >= k
        rates.append(
            PassRate(
                k=k,
                tasks=int(enough.sum()),
                pass_at_k=float(np.mean(pass_at_k(n[enough], hits[enough], k))),
                pass_hat_k=float(np.mean(pass_hat_k(n[enough], hits[enough], k))),
            )
        )
    return tuple(rates)


def flip_rate(table: Table) -> float | None:
    """Return the mean over repeated tasks of the chance that two attempts disagree.

    Unbiased: the share of disagreeing pairs. None where no task was repeated.
    """
    hits, n = judged_by_task(table)
    repeated = n > 1
    if not repeated.any():
        return None
    hits, n = hits[repeated], n[repeated]
    return float(np.mean(2 * hits * (n - hits) / (n * (n - 1))))
