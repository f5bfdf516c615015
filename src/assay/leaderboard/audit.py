"""What other readers of the same texts would have concluded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd

from assay.extraction import EXTRACTORS, extract
from assay.grid.formats import LabelKind, labels_for
from assay.leaderboard.correctness import POOLED
from assay.leaderboard.load import label_kind
from assay.records.manifest import Manifest
from assay.records.schema import Record

STANDARD = "standard"


@dataclass
class _Tally:
    n: int = 0
    right: int = 0
    gained: int = 0
    lost: int = 0
    items: int = 0
    items_touched: int = 0

    def add(self, right: bool, standard: bool) -> None:
        self.n += 1
        self.right += right
        self.gained += right and not standard
        self.lost += standard and not right

    @property
    def changed(self) -> int:
        return self.gained + self.lost


@dataclass
class ExtractionAudit:
    """Applies every extractor to every stored text while records pass by (see `load`).

    `tallies` maps (model, benchmark or "all", extractor) to counts.
    """

    tallies: defaultdict[tuple[str, str, str], _Tally] = field(
        default_factory=lambda: defaultdict(_Tally)
    )

    def __call__(self, manifest: Manifest, record: Record) -> None:
        """Add the generations of one record."""
        touched = dict.fromkeys(EXTRACTORS, False)
        read = 0
        for key, observation in record.observations.items():
            way = manifest.configurations[key]
            if observation.text is None or observation.order is None or way.get("role"):
                continue
            read += 1
            kind = manifest.labels[way["format"]]
            verdicts = _verdicts(
                record,
                observation.text,
                observation.order,
                label_kind(kind),
            )
            for extractor, right in verdicts.items():
                touched[extractor] |= right != verdicts[STANDARD]
                for benchmark in (record.benchmark, POOLED):
                    tally = self.tallies[record.model, benchmark, extractor]
                    tally.add(right, verdicts[STANDARD])
        for extractor in EXTRACTORS if read else ():
            for benchmark in (record.benchmark, POOLED):
                tally = self.tallies[record.model, benchmark, extractor]
                tally.items += 1
                tally.items_touched += touched[extractor]

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
    record: Record, text: str, order: tuple[int, ...], kind: LabelKind
) -> dict[str, bool]:
    labels = labels_for(kind, len(record.options))
    found = _labels(text, tuple(labels), tuple(record.options[k] for k in order))
    return {
        extractor: label is not None and order[labels.index(label)] in record.accepts
        for extractor, label in zip(EXTRACTORS, found, strict=True)
    }


@lru_cache(maxsize=200_000)
def _labels(text: str, labels: tuple[str, ...], shown: tuple[str, ...]) -> tuple[str | None, ...]:
    """Return what each extractor reads; models often answer one prompt in the same words."""
    if text in labels:
        # Nothing but a label: every extractor reads it, and this is how good models answer.
        return (text,) * len(EXTRACTORS)
    return tuple(extract(text, labels, shown, extractor).label for extractor in EXTRACTORS)
