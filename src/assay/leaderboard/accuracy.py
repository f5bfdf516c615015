"""Accuracy and compliance of every model under every configuration."""

from __future__ import annotations

import numpy as np
import pandas as pd

from assay.leaderboard.correctness import MISSING, Correctness, Scope
from assay.records.schema import STATUSES
from assay.stats import proportion_ci

_PARSED = STATUSES.index("ok")


def accuracy_table(correctness: Correctness, *, level: float = 0.95) -> pd.DataFrame:
    """Return one row for each model, scope and configuration.

    Over the items that were observed under the configuration: locked items count where they were
    asked. `parsed` answers are those with status ok, `compliance` their share, and
    `accuracy_parsed` the accuracy among them. Scope "all" pools the benchmarks, every item
    counting once. Intervals are Wilson's, for items like these. `missing` observations are outside
    all of this; `lowest` and `highest` bound the accuracy that they could have led to (all wrong,
    all right). Rows without any observation are left out.
    """
    parts = [_scope_rows(correctness, scope, level) for scope in correctness.scopes()]
    return pd.concat(parts, ignore_index=True)


def _scope_rows(correctness: Correctness, scope: Scope, level: float) -> pd.DataFrame:
    present = correctness.present[:, scope.items]
    parsed = present & (correctness.statuses[:, scope.items] == _PARSED)
    m, c = (axis.ravel() for axis in np.indices((present.shape[0], present.shape[2])))
    n, right, usable = (
        cells.sum(axis=1).ravel() for cells in (present, correctness.right[:, scope.items], parsed)
    )
    lost = (correctness.values[:, scope.items] == MISSING).sum(axis=1).ravel()
    m, c, n, right, usable, lost = (x[n > 0] for x in (m, c, n, right, usable, lost))
    interval = proportion_ci(right, n, level=level)
    ways = correctness.configurations
    chance = [correctness.chance(scope.items & column) for column in correctness.applicable.T]
    return pd.DataFrame(
        {
            "model": [correctness.models[k] for k in m],
            "benchmark": scope.benchmark,
            "configuration": [ways[k].key for k in c],
            "scoring": [ways[k].scoring for k in c],
            "format": [ways[k].format for k in c],
            "order": [ways[k].order for k in c],
            "n": n,
            "correct": right,
            "accuracy": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "parsed": usable,
            "compliance": usable / n,
            "accuracy_parsed": right / np.where(usable > 0, usable, np.nan),
            "missing": lost,
            "lowest": right / (n + lost),
            "highest": (right + lost) / (n + lost),
            "chance": np.array(chance)[c],
        }
    )
