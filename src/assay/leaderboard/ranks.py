"""Ranks under every configuration, and how they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.cube import cut
from assay.stats import kendall_matrix, kendall_w


@dataclass(frozen=True)
class Ranking:
    """The models of one scope ranked under each configuration.

    Attributes
    ----------
    models : tuple of str
        Those with observations in the scope.
    configurations : tuple of str
        Keys of the offered configurations.
    items : int
        Number of items, all observed for every model under every configuration.
    accuracy : ndarray of float, shape (model, configuration)
        NaN where there are no such items.
    ranks : ndarray of int, same shape
        1 is best; equals share the best of their places ("1224", scipy's method "min").
    """

    benchmark: str
    models: tuple[str, ...]
    configurations: tuple[str, ...]
    items: int
    accuracy: NDArray[np.float64]
    ranks: NDArray[np.int64]

    def champions(self) -> dict[str, int]:
        """Return how many configurations each model leads, alone or with equals; 0 is left out."""
        leads = (self.ranks == 1).sum(axis=1)
        return {
            self.models[k]: int(leads[k]) for k in np.argsort(-leads, kind="stable") if leads[k]
        }

    def largest_move(self) -> tuple[str, int, int] | None:
        """Return the model with the widest range of ranks, its best and its worst rank."""
        if not self.ranks.size:
            return None
        best, worst = self.ranks.min(axis=1), self.ranks.max(axis=1)
        k = int(np.argmax(worst - best))
        return self.models[k], int(best[k]), int(worst[k])

    def agreement(self) -> NDArray[np.float64]:
        """Return Kendall's tau-b between configurations, NaN where it is undefined."""
        if not self.items:
            return np.full((len(self.configurations),) * 2, np.nan)
        return kendall_matrix(self.accuracy.T)

    def concordance(self) -> float:
        """Return Kendall's W over configurations, NaN where it is undefined."""
        varied = self.items and len(self.models) > 1 and np.ptp(self.accuracy, axis=0).any()
        if not varied or len(self.configurations) < 2:
            return float("nan")
        return float(kendall_w(self.accuracy.T).statistic)


def ranking(correctness: Correctness, scope: Scope) -> Ranking:
    """Rank the models of `scope` under each configuration on the same items throughout."""
    kept, offered = correctness.ranked(scope), correctness.offered(scope)
    common = correctness.complete(scope)[kept].all(axis=0)
    right = cut(correctness.right, kept, np.flatnonzero(common), offered)
    n = int(common.sum())
    accuracy = right.mean(axis=1) if n else np.full((kept.size, offered.size), np.nan)
    ranks = rankdata(-accuracy, method="min", axis=0) if n else np.zeros(accuracy.shape)
    return Ranking(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[k] for k in kept),
        configurations=tuple(correctness.configurations[k].key for k in offered),
        items=n,
        accuracy=accuracy,
        ranks=ranks.astype(np.int64),
    )


def rank_table(rankings: Sequence[Ranking]) -> pd.DataFrame:
    """Return one row for each scope, configuration and model; scopes without items are left out."""
    frames = []
    for ranked in (r for r in rankings if r.items):
        c, m = (axis.ravel() for axis in np.indices(ranked.ranks.T.shape))
        frames.append(
            pd.DataFrame(
                {
                    "benchmark": ranked.benchmark,
                    "configuration": [ranked.configurations[k] for k in c],
                    "model": [ranked.models[k] for k in m],
                    "accuracy": ranked.accuracy[m, c],
                    "rank": ranked.ranks[m, c],
                    "champion": ranked.ranks[m, c] == 1,
                }
            )
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
