"""Which label or position a model prefers, whatever stands there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from assay.grid.formats import MAX_OPTIONS, labels_for
from assay.leaderboard.correctness import Bools, Correctness


def slot_table(correctness: Correctness) -> pd.DataFrame:
    """Return one row for each model, scope, generation format and shown position.

    Over the usable answers (status ok) to a format under all of its orders: `n` of them, `chosen`
    at this position, `gold` with the right option there. An unbiased model has share close to
    gold_share, which need not be 1 / options: six orders cannot balance four positions.
    `recall` is the accuracy among answers whose right option stood there.
    """
    frames = []
    models = range(len(correctness.models))
    for scope in correctness.scopes():
        for name in correctness.labels:
            along = _columns(correctness, name)
            counts = [_counts(correctness, m, scope.items, along) for m in models]
            chosen, gold, right = np.moveaxis(np.array(counts, np.int64), 1, 0)
            frames.append(_rows(correctness, scope.benchmark, name, chosen, gold, right))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _columns(correctness: Correctness, name: str) -> NDArray[np.intp]:
    """Return the configurations that generate in a format."""
    ways = correctness.configurations
    return np.array([c for c, w in enumerate(ways) if (w.scoring, w.format) == ("gen", name)], int)


def _counts(
    correctness: Correctness, m: int, items: Bools, along: NDArray[np.intp]
) -> list[NDArray[np.int64]]:
    """Return chosen, gold and right-where-gold of one model, each of shape (position,)."""
    cells = np.ix_(items, along)
    slots, gold = correctness.slots[m][cells], correctness.gold_slots[cells]
    usable = (slots >= 0) & (gold >= 0)
    right = usable & correctness.right[m][cells]
    shown = slots[usable], gold[usable], gold[right]
    return [np.bincount(where, minlength=MAX_OPTIONS) for where in shown]


def _rows(
    correctness: Correctness,
    benchmark: str,
    name: str,
    chosen: NDArray[np.int64],
    gold: NDArray[np.int64],
    right: NDArray[np.int64],
) -> pd.DataFrame:
    labels = np.array(labels_for(correctness.labels[name], MAX_OPTIONS))
    m, s = np.nonzero(np.broadcast_to((chosen + gold).any(axis=0), chosen.shape))
    n = chosen.sum(axis=1)
    m, s = m[n[m] > 0], s[n[m] > 0]
    return pd.DataFrame(
        {
            "model": np.array(correctness.models)[m],
            "benchmark": benchmark,
            "format": name,
            "label": labels[s],
            "slot": s,
            "chosen": chosen[m, s],
            "gold": gold[m, s],
            "n": n[m],
            "share": chosen[m, s] / n[m],
            "gold_share": gold[m, s] / n[m],
            "recall": right[m, s] / np.where(gold[m, s] > 0, gold[m, s], np.nan),
        }
    )


@dataclass(frozen=True, slots=True)
class Preference:
    """The position that a model prefers most, in the reference format over all items.

    `excess` is its share among answers minus the share of right options there, averaged over
    items; the interval (t over items, Bonferroni over positions) accounts for having picked the
    largest and for the several orders of one item.
    """

    model: str
    label: str
    excess: float
    low: float
    high: float
    items: int
    positions: int


def preference(correctness: Correctness, model: int, *, alpha: float) -> Preference | None:
    """Return the strongest position preference of `model`; None with fewer than six items."""
    name = correctness.reference_configuration.format
    if name not in correctness.labels:
        return None
    along = _columns(correctness, name)
    chosen, gold = correctness.slots[model][:, along], correctness.gold_slots[:, along]
    usable = (chosen >= 0) & (gold >= 0)
    items = usable.any(axis=1)
    if items.sum() < 6:
        return None
    usable, chosen, gold = usable[items], chosen[items], gold[items]
    positions = int(max(chosen[usable].max(), gold[usable].max())) + 1
    spread = np.stack(
        [
            (usable * ((chosen == s).astype(float) - (gold == s))).sum(axis=1) / usable.sum(axis=1)
            for s in range(positions)
        ]
    )
    means = spread.mean(axis=1)
    best = int(np.argmax(means))
    error = spread[best].std(ddof=1) / np.sqrt(items.sum())
    reach = stats.t.ppf(1 - alpha / (2 * positions), items.sum() - 1) * error
    return Preference(
        model=correctness.models[model],
        label=labels_for(correctness.labels[name], max(2, positions))[best],
        excess=float(means[best]),
        low=float(means[best] - reach),
        high=float(means[best] + reach),
        items=int(items.sum()),
        positions=positions,
    )
