"""Ways to choose k items, and how well the chosen ones rank models that had no part in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from assay.leaderboard.correctness import Bools
from assay.leaderboard.item_rest import point_biserial

Floats = NDArray[np.float64]

#: How k items are chosen.
RULES = ("discriminating", "stratified", "random")
#: Pairs are gathered by their gap, in steps of a quarter of a point.
STEPS = 400
#: Pairs that are judged at a time.
_PAIRS = 2**20
#: "Ranked right" means at least this often.
RELIABLE = 0.8


def choose(
    rule: str,
    right: Bools,
    strata: NDArray[np.intp],
    *,
    k: int,
    repeats: int,
    rng: np.random.Generator,
) -> Bools:
    """Choose k items, several times over.

    Parameters
    ----------
    rule : {"discriminating", "stratified", "random"}
        The largest point-biserial, equals in random order; one item of each k-th part
        of the items, in the order of stratum and difficulty; or any k items.
    right : ndarray of bool, shape (model, item)
        Outcomes of the models that may be looked at.
    strata : ndarray of int, shape (item,)
        Benchmark of each item.
    k, repeats : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of bool, shape (repeat, item)
    """
    items = right.shape[1]
    keys: list[Floats] = []
    if rule == "discriminating":
        keys = [-np.nan_to_num(point_biserial(right), nan=-np.inf)]
    elif rule == "stratified":
        keys = [right.mean(axis=0), strata.astype(float)]
    chosen = np.zeros((repeats, items), bool)
    for row in chosen:
        order = np.lexsort(np.stack([rng.random(items), *keys]))
        places = np.arange(k)
        if rule == "stratified":
            edges = np.arange(k + 1) * items // k
            places = rng.integers(edges[:-1], edges[1:])
        row[order[places]] = True
    return chosen


@dataclass
class RankingRecord:
    """How often pairs were ranked right, by the size of their gap.

    Attributes
    ----------
    right, total : ndarray of float, shape (STEPS,)
        Pairs whose true gap lies in a step; equals on the chosen items are right half the time.
    """

    right: Floats
    total: Floats

    @classmethod
    def empty(cls) -> RankingRecord:
        """Return a record without pairs."""
        return cls(np.zeros(STEPS), np.zeros(STEPS))

    def add(self, lead: Floats, gap: Floats) -> None:
        """Count pairs with `lead` on the chosen items and `gap` on the others, of any shape."""
        # A pair without a gap cannot be ranked right; it goes to a step that is not kept.
        agreed = (1 + np.sign(lead) * np.sign(gap)) / 2
        step = np.minimum((np.abs(gap) * STEPS).astype(np.intp), STEPS - 1)
        step[gap == 0] = STEPS
        self.right += np.bincount(step.ravel(), agreed.ravel(), minlength=STEPS + 1)[:STEPS]
        self.total += np.bincount(step.ravel(), minlength=STEPS + 1)[:STEPS]

    @property
    def share_right(self) -> float:
        """Share of all pairs that were ranked right; NaN where there is none."""
        total = self.total.sum()
        return float(self.right.sum() / total) if total else float("nan")

    @property
    def smallest_gap(self) -> float:
        """Smallest gap ranked right 80 % of the time, from there on; NaN where none is.

        The share right is taken to grow with the gap (isotonic regression), so that one lucky
        step does not decide.
        """
        seen = np.flatnonzero(self.total)
        if not seen.size:
            return float("nan")
        share = self.right[seen] / self.total[seen]
        fitted = isotonic_regression(share, weights=self.total[seen]).x
        reached = np.flatnonzero(fitted >= RELIABLE - 1e-12)
        return float(seen[reached[0]] / STEPS) if reached.size else float("nan")


def pairs_of(held_out: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of models that hold at least one that was held out."""
    first, second = np.triu_indices(held_out.size, 1)
    kept = held_out[first] | held_out[second]
    return first[kept], second[kept]


def judge_subsets(
    record: RankingRecord,
    folds: Sequence[tuple[Bools, Bools]],
    right: Iterator[Bools],
) -> None:
    """Rank the held-out models on chosen items, and compare with the items not chosen.

    Parameters
    ----------
    record : RankingRecord
        Counts are added to it.
    folds : sequence of (chosen, held_out)
        Shapes (repeat, item) and (model,); all choices of the same number of items.
    right : iterator of ndarray of bool, shape (model, item)
        One array for each held-out configuration.
    """
    weights = np.concatenate([chosen for chosen, _ in folds]).astype(np.float32)
    others = weights.shape[1] - int(weights[0].sum())
    parts = [(pairs_of(held_out), len(chosen)) for chosen, held_out in folds]
    for cells in right:
        outcomes = cells.astype(np.float32)
        # Sums of zeros and ones are exact in float32.
        inside = weights @ outcomes.T
        outside = outcomes.sum(axis=1) - inside
        place = 0
        for (first, second), repeats in parts:
            block = max(1, _PAIRS // max(first.size, 1))
            for start in range(place, place + repeats, block):
                some = slice(start, min(start + block, place + repeats))
                gap = (outside[some, first] - outside[some, second]).astype(float) / others
                record.add(inside[some, first] - inside[some, second], gap)
            place += repeats


def tied_places(power: Floats, k: int) -> tuple[int, int]:
    """Return how many of the k largest are chosen in any case, and how many equals compete.

    Examples
    --------
    >>> tied_places(np.array([0.9, 0.5, 0.5, 0.5, np.nan]), 2)
    (1, 3)
    """
    order = np.sort(np.nan_to_num(power, nan=-np.inf))[::-1]
    above, equal = int((order > order[k - 1]).sum()), int((order == order[k - 1]).sum())
    return (k, 0) if above + equal == k else (above, equal)
