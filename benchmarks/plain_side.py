"""The side of plain pandas, scipy and statsmodels in `benchmarks/statistics.py`."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q

DRAWS = 10_000


def columns_of(right: np.ndarray) -> np.ndarray:
    """Return outcomes as one row an item and one column a model and configuration."""
    return np.ascontiguousarray(right.transpose(1, 0, 2).reshape(right.shape[1], -1))


def plain_accuracies(right: np.ndarray, draws: int) -> float:
    """Resample a data frame, one row an item."""
    frame = pd.DataFrame(columns_of(right))
    for draw in range(draws):
        frame.sample(frac=1, replace=True, random_state=draw).mean()
    return float("nan")


def plain_gaps(right: np.ndarray, pairs: int) -> float:
    """Give scipy's paired bootstrap of one pair after the other."""
    chosen = list(combinations(right[:, :, 0], 2))[:pairs]
    for a, b in chosen:
        stats.bootstrap(
            (a, b), _gap, paired=True, n_resamples=DRAWS, method="percentile", batch=500, rng=1
        )
    return float(chosen[0][1].mean() - chosen[0][0].mean())


def plain_pairs(right: np.ndarray, configurations: int) -> float:
    """Cross-tabulate and test one pair after the other."""
    total = 0.0
    for c in range(configurations):
        for a, b in combinations(right[:, :, c], 2):
            cells = pd.crosstab(a, b).reindex(index=[0, 1], columns=[0, 1], fill_value=0)
            up, down = int(cells.loc[0, 1]), int(cells.loc[1, 0])
            total += float(stats.binomtest(up, up + down).pvalue) if up + down else 1.0
    return total


def plain_conditions(right: np.ndarray, models: int) -> float:
    """Let statsmodels compute Cochran's Q."""
    return float(sum(cochrans_q(outcomes).statistic for outcomes in right[:models]))


def _gap(a: np.ndarray, b: np.ndarray, axis: int) -> Any:
    return b.mean(axis=axis) - a.mean(axis=axis)
