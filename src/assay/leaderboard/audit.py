"""What other readers of the same texts would have concluded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.extraction import EXTRACTORS, extract
from assay.grid.formats import LabelKind, labels_for
from assay.leaderboard.correctness import POOLED
from assay.leaderboard.shard_table import label_kind
from assay.records.columns import Column, Columns
from assay.records.manifest import Manifest

STANDARD = "standard"


@dataclass
class _Tally:
    n: int = 0
    right: int = 0
    gained: int = 0
    lost: int = 0
    items: int = 0
    items_touched: int = 0

    def add(self, right: NDArray[np.bool_], standard: NDArray[np.bool_]) -> None:
        self.n += right.size
        self.right += int(right.sum())
        self.gained += int((right & ~standard).sum())
        self.lost += int((standard & ~right).sum())

    @property
    def changed(self) -> int:
        return self.gained + self.lost


@dataclass
class ExtractionAudit:
    """Applies every extractor to every stored text while shards pass by (see `load`).

    `tallies` maps (model, benchmark or "all", extractor) to counts.
    """

    tallies: defaultdict[tuple[str, str, str], _Tally] = field(
        default_factory=lambda: defaultdict(_Tally)
    )

    def __call__(self, manifest: Manifest, columns: Columns) -> None:
        """Add the generations of one shard."""
        touched = np.zeros((len(EXTRACTORS), len(columns.item_ids)), bool)
        read = np.zeros(len(columns.item_ids), bool)
        for key, column in columns.observations.items():
            way = manifest.configurations[key]
            if way.get("role") or column.texts.null_count == len(column.texts):
                continue
            rows, right = _verdicts(columns, column, label_kind(manifest.labels[way["format"]]))
            standard = right[EXTRACTORS.index(STANDARD)]
            for tallies, verdicts in zip(self._tallies(manifest), right, strict=True):
                for tally in tallies:
                    tally.add(verdicts, standard)
            touched[:, rows] |= right != standard
            read[rows] = True
        if read.any():
            for tallies, changed in zip(self._tallies(manifest), touched, strict=True):
                for tally in tallies:
                    tally.items += int(read.sum())
                    tally.items_touched += int(changed.sum())

    def _tallies(self, manifest: Manifest) -> list[list[_Tally]]:
        """Return, for each extractor, the tally of the benchmark and that of all of them."""
        scopes = (manifest.benchmark, POOLED)
        return [
            [self.tallies[manifest.model, scope, extractor] for scope in scopes]
            for extractor in EXTRACTORS
        ]

    def table(self) -> pd.DataFrame:
        """Return one row for each model, scope and extractor.

        Over the `n` stored texts of all generation configurations: `accuracy` under the
        extractor; `changed` verdicts against the standard one, `gained` towards right and `lost`
        towards wrong.
        """
        return pd.DataFrame(
            [
                {
                    "model": model,
                    "benchmark": benchmark,
                    "extractor": extractor,
                    "n": tally.n,
                    "accuracy": tally.right / tally.n,
                    "changed": tally.changed,
                    "gained": tally.gained,
                    "lost": tally.lost,
                }
                for (model, benchmark, extractor), tally in sorted(self.tallies.items())
            ]
        )


def _verdicts(
    columns: Columns, column: Column, kind: LabelKind
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the items with a text, and who reads it as right: shape (extractor, those items)."""
    texts = column.texts.to_pylist()
    shown = (column.orders >= 0).sum(axis=1).tolist()
    rows = np.array([n for n, text in enumerate(texts) if text is not None and shown[n]], np.intp)
    orders = column.orders[rows]
    found = np.full((len(rows), len(EXTRACTORS)), -1)
    for n, (row, order) in enumerate(zip(rows.tolist(), orders.tolist(), strict=True)):
        options = columns.options[row]
        words = tuple(options[k] for k in order[: shown[row]])
        found[n] = _positions(texts[row], labels_for(kind, len(options)), words)
    chosen = np.take_along_axis(orders, found.clip(min=0), axis=1)
    return rows, ((found >= 0) & columns.accepts[rows[:, None], chosen]).T


@lru_cache(maxsize=200_000)
def _positions(text: str, labels: tuple[str, ...], shown: tuple[str, ...]) -> tuple[int, ...]:
    """Return the position that each extractor reads, -1 for none.

    Models often answer one prompt in the same words.
    """
    if text in labels:
        # Nothing but a label: every extractor reads it, and this is how good models answer.
        return (labels.index(text),) * len(EXTRACTORS)
    found = (extract(text, labels, shown, extractor).label for extractor in EXTRACTORS)
    return tuple(-1 if label is None else labels.index(label) for label in found)
