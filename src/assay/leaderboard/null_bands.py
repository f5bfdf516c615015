"""Headlines of the data beside those of its no-interaction twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Protocol

import numpy as np

from assay.leaderboard.correctness import Bools, Correctness, Scope
from assay.leaderboard.cube import cut
from assay.leaderboard.headlines import Decomposition, Headlines, headlines
from assay.leaderboard.items import ItemClasses
from assay.leaderboard.null_twin import NullTwin

#: Share of draws that a band holds.
_BAND = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class NullBand:
    """One headline, and what the twin gives for it.

    `twin` is the mean over draws; `low` and `high` hold the central 95 % of them. NaN where the
    headline is undefined.
    """

    value: float
    twin: float
    low: float
    high: float


@dataclass(frozen=True)
class ScopeBands:
    """The null bands of one scope.

    Attributes
    ----------
    headlines : dict of str to NullBand
    parts : Decomposition
        The observed gaps between neighbours.
    models : tuple of int
        Indices of the models that `parts.order` refers to.
    pair_shares : tuple of float
        For each observed pair of neighbours, the twin's share of their gap on fragile items;
        NaN where the twin's mean gap is less than half an item.
    """

    benchmark: str
    headlines: dict[str, NullBand]
    parts: Decomposition
    models: tuple[int, ...]
    pair_shares: tuple[float, ...]


class _Collector:
    """Accumulates one scope over the draws."""

    def __init__(self, correctness: Correctness, scope: Scope):
        self.scope = scope
        self.models = correctness.ranked(scope)
        self.items = np.flatnonzero(scope.items)
        self.offered = correctness.offered(scope)
        self.present = self._cut(correctness.present)
        self.reference = int(np.flatnonzero(self.offered == correctness.reference)[0])
        complete = correctness.complete(scope)[self.models][:, scope.items]
        self.common = np.all(complete, axis=0)
        right = self._cut(correctness.right)
        self.classes = ItemClasses.of(self.present, right)
        self.observed, self.parts = self._headlines(right, self.classes)
        self.draws: list[Headlines] = []
        pairs = max(len(self.models) - 1, 0)
        self.gap, self.fragile = np.zeros(pairs), np.zeros(pairs)

    def _cut(self, cells: Bools) -> Bools:
        return cut(cells, self.models, self.items, self.offered)

    def _headlines(self, right: Bools, classes: ItemClasses) -> tuple[Headlines, Decomposition]:
        return headlines(self.present, right, classes, reference=self.reference, common=self.common)

    def add(self, right: Bools) -> None:
        cells = self._cut(right)
        classes = self.classes.redrawn(cells)
        self.draws.append(self._headlines(cells, classes)[0])
        gap, fragile = self._pair_gaps(cells, classes.fragile)
        self.gap += gap
        self.fragile += fragile

    def _pair_gaps(self, right: Bools, fragile: Bools) -> tuple[np.ndarray, np.ndarray]:
        """Return gap and fragile part of the pairs that are neighbours in the data, in items."""
        upper, lower = self.parts.order[:-1], self.parts.order[1:]
        at = right[:, :, self.reference].astype(np.int8)
        both = self.present[:, :, self.reference]
        lead = (at[upper] - at[lower]) * (both[upper] & both[lower])
        return lead.sum(axis=1), (lead * (fragile[upper] | fragile[lower])).sum(axis=1)

    def result(self) -> ScopeBands:
        bands = {}
        for name, value in asdict(self.observed).items():
            drawn = np.array([getattr(draw, name) for draw in self.draws])
            known = drawn[~np.isnan(drawn)]
            low, high = np.quantile(known, _BAND) if known.size else (np.nan, np.nan)
            mean = float(known.mean()) if known.size else np.nan
            bands[name] = NullBand(value, mean, float(low), float(high))
        real = self.gap > len(self.draws) / 2
        shares = np.full(self.gap.shape, np.nan)
        shares[real] = self.fragile[real] / self.gap[real]
        return ScopeBands(
            self.scope.benchmark,
            bands,
            self.parts,
            tuple(int(m) for m in self.models),
            tuple(float(share) for share in shares),
        )


class Collects(Protocol):
    """Takes one draw of a twin after the other."""

    def add(self, right: Bools) -> None:
        """Take a draw, an array like `Correctness.right`."""
        ...


def null_bands(
    correctness: Correctness, twin: NullTwin, *, draws: int, also: Sequence[Collects] = ()
) -> list[ScopeBands]:
    """Return the headlines of every scope beside those of `draws` draws of its `twin`.

    Without draws the bands are NaN. Drawing is the expensive part: what else is to be known of
    the same draws collects it on the way.
    """
    names = [scope.benchmark for scope in correctness.scopes()]
    if correctness.whole:
        names = names[:1]  # the one benchmark is the whole
    collectors = [_Collector(correctness, correctness.scope(name)) for name in names]
    for right in twin.draws(draws):
        for collector in (*collectors, *also):
            collector.add(right)
    bands = [collector.result() for collector in collectors]
    if correctness.whole:
        bands.append(replace(bands[0], benchmark=correctness.benchmarks[0]))
    return bands


def headline_names() -> tuple[str, ...]:
    """Return the names of the headlines."""
    return tuple(field.name for field in fields(Headlines))
