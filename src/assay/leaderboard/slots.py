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
    for scope in correctness.scopes():
        for name in correctness.labels:
            usable = _usable(correctness, scope.items, name)
            counts = _counts(correctness, usable)
            frames.append(_rows(correctness, scope.benchmark, name, *counts))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _usable(correctness: Correctness, items: Bools, name: str) -> Bools:
    asked = np.array([c.format == name and c.scoring == "gen" for c in correctness.configurations])
    shown = (correctness.slots >= 0) & (correctness.gold_slots >= 0)
    return np.asarray(shown & items[:, None] & asked)


def _counts(correctness: Correctness, usable: Bools) -> tuple[NDArray[np.int64], ...]:
    """Return chosen, gold and right-where-gold, each of shape (model, position)."""
    gold_slots = np.broadcast_to(correctness.gold_slots, usable.shape)
    tables = []
    for slots, cells in (
        (correctness.slots, usable),
        (gold_slots, usable),
        (gold_slots, usable & correctness.right),
    ):
        rows = [
            np.bincount(s[u].astype(np.int64), minlength=MAX_OPTIONS)
            for s, u in zip(slots, cells, strict=True)
        ]
        tables.append(np.array(rows, np.int64))
    return tuple(tables)


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
    usable = _usable(correctness, np.ones(len(correctness.items), bool), name)[model]
    items = usable.any(axis=1)
    if items.sum() < 6:
        return None
    usable, chosen = usable[items], correctness.slots[model][items]
    gold = correctness.gold_slots[items]
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
