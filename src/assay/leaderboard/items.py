"""Which items are answered the same however they are asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.leaderboard.correctness import Bools, Correctness

CLASSES = ("robust-wrong", "fragile", "robust-correct")


@dataclass(frozen=True)
class ItemClasses:
    """The class of each item for each model, over the observations that are present.

    Attributes
    ----------
    present, correct : ndarray of int, shape (model, item)
        Observations that count, and those of them that are right.
    """

    present: NDArray[np.int64]
    correct: NDArray[np.int64]

    @classmethod
    def of(cls, present: Bools, right: Bools) -> ItemClasses:
        """Count over configurations, the last axis of (model, item, configuration)."""
        return cls(ways(present), ways(right))

    def redrawn(self, right: Bools) -> ItemClasses:
        """Return the classes of other outcomes of the same observations."""
        return ItemClasses(self.present, ways(right))

    @property
    def fragile(self) -> Bools:
        """Right under some configurations and wrong under others."""
        return (self.correct > 0) & (self.correct < self.present)

    @property
    def judged(self) -> Bools:
        """Observed at least twice: an item observed once cannot be fragile."""
        return self.present >= 2

    @property
    def codes(self) -> NDArray[np.int64]:
        """Indices into `CLASSES`, shape (model, item); only meaningful where one is present."""
        return np.where(self.fragile, 1, 2 * (self.correct == self.present))


def ways(cells: Bools) -> NDArray[np.int64]:
    """Count the configurations of each (model, item); a product is faster than a sum of bits.

    Model by model: a product holds its bits as numbers, four bytes each.
    """
    ones, counts = np.ones(cells.shape[2], np.float32), np.empty(cells.shape[:2], np.int64)
    for m, outcomes in enumerate(cells):
        counts[m] = outcomes @ ones
    return counts


def item_table(correctness: Correctness) -> pd.DataFrame:
    """Return one row for each model and item with at least one observation."""
    classes = ItemClasses.of(correctness.present, correctness.right)
    m, i = np.nonzero(classes.present)
    return pd.DataFrame(
        {
            # Millions of rows of a few words: numbers until they are written.
            "model": pd.Categorical.from_codes(m, pd.Index(correctness.models)),
            "benchmark": pd.Categorical(correctness.benchmark_of).take(i),
            "item_id": pd.Categorical([item.item_id for item in correctness.items]).take(i),
            "item_class": pd.Categorical.from_codes(classes.codes[m, i], pd.Index(CLASSES)),
            "present": classes.present[m, i],
            "correct": classes.correct[m, i],
        }
    )


def fragility_table(correctness: Correctness) -> pd.DataFrame:
    """Return the fragility of each item: the share of models for which it is fragile.

    `models` counts those that observed the item at least twice; items without any are left out.
    """
    classes = ItemClasses.of(correctness.present, correctness.right)
    models = classes.judged.sum(axis=0)
    kept = np.flatnonzero(models)
    ids = np.array([item.item_id for item in correctness.items])
    return pd.DataFrame(
        {
            "benchmark": correctness.benchmark_of[kept],
            "item_id": ids[kept],
            "fragility": classes.fragile.sum(axis=0)[kept] / models[kept],
            "models": models[kept],
        }
    )
