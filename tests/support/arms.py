"""Arms of an experiment as the columns that a comparison works on, without records."""

from __future__ import annotations

import numpy as np

from assay.evaluation.table import Table

from . import simulation as sim

#: Cells of cases of which the candidate has no verdict.
LOST, LOST_A = -1, -2


def two_arms(cells: np.ndarray, attempts: int = 1) -> tuple[Table, Table]:
    """Return both arms of cells, shape (tag, case); a tag's tasks have so many cases in a row.

    What the candidate lost is `LOST` where the baseline failed, `LOST_A` where it passed.
    """
    before = np.isin(cells, (sim.BOTH, sim.A_ONLY, LOST_A)).astype(np.int8)
    after = np.where(cells < 0, -1, np.isin(cells, (sim.BOTH, sim.B_ONLY))).astype(np.int8)
    return arm(before, attempts), arm(after, attempts)


def arm(verdicts: np.ndarray, attempts: int = 1) -> Table:
    """Return the columns of verdicts, shape (tag, case); -1 was lost to the infrastructure."""
    tags, cases = verdicts.shape
    n, tasks = verdicts.size, verdicts.size // attempts
    nothing = np.full(n, -1, np.int32)
    tag = np.repeat(np.arange(tags, dtype=np.int32), cases)
    names = [f"tag{k:02d}" for k in range(tags)]
    return Table(
        names={
            "task": [f"task{k:06d}" for k in range(tasks)],
            "area": ["area"],
            "code": [],
            "variant": [],
            "version": [],
            "runner": [],
        },
        tag_names=[(name,) for name in names],
        codes={
            "task": np.arange(n, dtype=np.int32) // attempts,
            "area": np.zeros(n, np.int32),
            "tags": tag,
            "code": nothing,
            "variant": nothing,
            "version": nothing,
            "runner": nothing,
        },
        measured={
            name: np.full(n, np.nan)
            for name in (
                "score",
                "expected",
                "latency",
                "cost",
                "input",
                "cached",
                "output",
                "total",
            )
        },
        attempt=np.tile(np.arange(1, attempts + 1, dtype=np.int32), tasks),
        verdict=verdicts.ravel().astype(np.int8),
        unsafe=np.full(n, -1, np.int8),
        infrastructure=verdicts.ravel() < 0,
        fingerprint=np.arange(n, dtype=np.uint64),
    )
