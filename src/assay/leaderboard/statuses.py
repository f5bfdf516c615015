"""How many observations have which status."""

from __future__ import annotations

import numpy as np
import pandas as pd

from assay.leaderboard.correctness import Correctness
from assay.records.schema import STATUSES


def status_table(correctness: Correctness) -> pd.DataFrame:
    """Return one row for each model, scope, configuration and status that occurs.

    Absent shards have no statuses; they are listed in the summary's `missing`.
    """
    frames = []
    for scope in correctness.scopes():
        statuses = correctness.statuses[:, scope.items]
        counts = np.stack([(statuses == k).sum(axis=1) for k in range(len(STATUSES))], axis=2)
        m, c, k = np.nonzero(counts)
        frames.append(
            pd.DataFrame(
                {
                    "model": np.array(correctness.models)[m],
                    "benchmark": scope.benchmark,
                    "configuration": [correctness.configurations[i].key for i in c],
                    "status": np.array(STATUSES)[k],
                    "n": counts[m, c, k],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)
