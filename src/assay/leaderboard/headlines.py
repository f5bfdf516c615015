"""The headline numbers of a fragility study, computed alike for data and for simulated twins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from assay.leaderboard.correctness import Bools
from assay.leaderboard.items import ItemClasses

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Decomposition:
    """Gaps between neighbours on the reference leaderboard, best first.

    Attributes
    ----------
    order : ndarray of int, shape (model,)
        The models, best first; equals in their given order.
    gap, fragile : ndarray of float, shape (pair,)
        The upper neighbour's lead, and the part of it on items that are fragile for either.
    fragile_items : ndarray of float, shape (pair,)
        Share of the pair's items that are fragile for either.
    n : ndarray of int, shape (pair,)
        Items observed for both at the reference.
    """

    order: NDArray[np.intp]
    gap: Floats
    fragile: Floats
    fragile_items: Floats
    n: NDArray[np.int64]

    @property
    def pooled(self) -> float:
        """Share of all gaps together that lies on fragile items; NaN where there is no gap."""
        total = float(np.nansum(self.gap))
        return float(np.nansum(self.fragile)) / total if total > 0 else float("nan")

    @property
    def mean_of_shares(self) -> float:
        """Mean share over the gaps that are not zero; NaN where there is none."""
        real = self.gap > 0
        return float(np.mean(self.fragile[real] / self.gap[real])) if real.any() else float("nan")


def decompose(present: Bools, right: Bools, fragile: Bools) -> Decomposition:
    """Split the gaps between neighbours into fragile and robust items.

    Parameters
    ----------
    present, right : ndarray of bool, shape (model, item)
        At the reference configuration; `right` implies `present`.
    fragile : ndarray of bool, same shape
    """
    common = present.all(axis=0)
    score = right[:, common].sum(axis=1)
    order = np.argsort(-score, kind="stable")
    upper, lower = order[:-1], order[1:]
    both = present[upper] & present[lower]
    lead = (right[upper].astype(np.int8) - right[lower]) * both
    either = (fragile[upper] | fragile[lower]) & both
    n = both.sum(axis=1)
    size = np.where(n > 0, n, np.nan)
    return Decomposition(
        order=order,
        gap=lead.sum(axis=1) / size,
        fragile=(lead * either).sum(axis=1) / size,
        fragile_items=either.sum(axis=1) / size,
        n=n,
    )


@dataclass(frozen=True, slots=True)
class Headlines:
    """Numbers that a study of fragility reports; each must be read beside its null band.

    Attributes
    ----------
    any_flip : float
        Share of (model, item) cells, observed at least twice, that are right under some
        configurations and wrong under others.
    robust, optimistic : float
        Share of those cells that are right under all, or at least one, of their configurations.
    fragile_item_share : float
        Mean over neighbours of the share of items fragile for either.
    fragile_share_of_gap : float
        `Decomposition.pooled`.
    champions : float
        Models that lead, alone or with equals, under at least one configuration.
    largest_move : float
        Widest range of ranks of one model.
    """

    any_flip: float
    robust: float
    optimistic: float
    fragile_item_share: float
    fragile_share_of_gap: float
    champions: float
    largest_move: float


def headlines(
    present: Bools, right: Bools, classes: ItemClasses, *, reference: int, common: Bools
) -> tuple[Headlines, Decomposition]:
    """Compute the headlines of one scope.

    Parameters
    ----------
    present, right : ndarray of bool, shape (model, item, configuration)
        Offered configurations only.
    classes : ItemClasses
        Of these.
    reference : int
        Index of the reference among them.
    common : ndarray of bool, shape (item,)
        Items observed for every model under every configuration; ranks rest on these.
    """
    parts = decompose(present[:, :, reference], right[:, :, reference], classes.fragile)
    cells = classes.judged
    # Whole numbers: exact, in whatever order they are added.
    kept = common.astype(np.float32)
    lead, move = _rank_headlines(np.array([kept @ outcomes for outcomes in right]))
    values = Headlines(
        any_flip=_mean(classes.fragile[cells]),
        robust=_mean((classes.correct == classes.present)[cells]),
        optimistic=_mean((classes.correct > 0)[cells]),
        fragile_item_share=_mean(parts.fragile_items[parts.n > 0]),
        fragile_share_of_gap=parts.pooled,
        champions=lead if common.any() else float("nan"),
        largest_move=move if common.any() else float("nan"),
    )
    return values, parts


def _rank_headlines(scores: NDArray[np.float32]) -> tuple[float, float]:
    ranks = rankdata(-scores, method="min", axis=0)
    champions = (ranks == 1).any(axis=1).sum()
    return float(champions), float(np.max(np.ptp(ranks, axis=1)))


def _mean(values: Floats | Bools) -> float:
    return float(np.mean(values)) if values.size else float("nan")
