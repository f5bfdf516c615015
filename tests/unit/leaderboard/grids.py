"""Outcomes of generator G as a `Correctness` over the 26 configurations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.grid.configuration import Configuration
from assay.leaderboard.correctness import Correctness, Item
from assay.records.schema import STATUSES
from support.twin import CONFIGURATIONS, LABELS, REFERENCE

#: Of the twin's configurations, in the order of their keys.
SORTED = sorted(range(len(CONFIGURATIONS)), key=lambda k: CONFIGURATIONS[k].key)
WAYS = [CONFIGURATIONS[k] for k in SORTED]
KEYS = [way.key for way in WAYS]


def study(
    correct: NDArray[np.bool_],
    *,
    gold: Sequence[int] | NDArray[np.int64] | None = None,
    clusters: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
) -> Correctness:
    """Return a study of `correct`, shape (model, item, 26), in the twin's order.

    `gold` is the right option of each item (drawn where it is not given), `columns` picks some of
    the configurations, as places in `KEYS`.
    """
    models, items, _ = correct.shape
    kept = list(range(len(WAYS))) if columns is None else list(columns)
    right = np.random.default_rng(0).integers(4, size=items) if gold is None else np.asarray(gold)
    slots = np.full((items, len(kept)), -1, np.int8)
    for place, column in enumerate(kept):
        permutation = WAYS[column].permutation
        if permutation is not None:
            slots[:, place] = np.argsort(permutation)[right]
    numbers = range(items) if clusters is None else clusters
    codes = correct[:, :, [SORTED[k] for k in kept]].astype(np.uint8)
    return Correctness(
        models=tuple(f"m{k:02d}" for k in range(models)),
        items=tuple(Item("b", f"i{i:05d}", f"c{c}", "s", 4) for i, c in enumerate(numbers)),
        configurations=tuple(
            Configuration(WAYS[k].scoring, WAYS[k].format, WAYS[k].order) for k in kept
        ),
        reference=[KEYS[k] for k in kept].index(REFERENCE),
        values=codes,
        statuses=np.full(codes.shape, STATUSES.index("ok"), np.uint8),
        slots=np.full(codes.shape, -1, np.int8),
        gold_slots=slots,
        labels={name: "digit" if name == "digit_labels" else "upper" for name in LABELS},
    )
