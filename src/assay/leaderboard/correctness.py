"""The one array that every analysis reads: who was right on what, asked how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.grid.configuration import Configuration
from assay.grid.formats import LabelKind
from assay.leaderboard.apart import Apart
from assay.leaderboard.codes import MISSING, NOT_APPLICABLE, RIGHT, WRONG

__all__ = ["MISSING", "NOT_APPLICABLE", "RIGHT", "WRONG", "Correctness", "Item", "Scope", "family"]

#: The code in `Correctness.statuses` of an observation whose whole shard is absent.
ABSENT = 255
#: The name of the scope that pools all benchmarks; every item counts once there.
POOLED = "all"

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Item:
    """What the analysis needs to know of an item."""

    benchmark: str
    item_id: str
    cluster: str
    subject: str
    options: int


def family(configuration: Configuration) -> str:
    """Return the declared family of a configuration: its format, or cloze, or pmi.

    Configurations of one family differ by far less than the families do, so that 26
    configurations are nearer to five pieces of evidence than to 26.
    """
    if configuration.scoring == "gen":
        return configuration.format
    stems = (name for name in ("cloze", "pmi") if configuration.format.startswith(name))
    return next(stems, configuration.format)


@dataclass(frozen=True)
class Scope:
    """A benchmark, or all of them pooled."""

    benchmark: str
    items: Bools


@dataclass(frozen=True)
class Correctness:
    """Outcomes over model × item × configuration.

    Attributes
    ----------
    models : tuple of str
        Sorted by name.
    items : tuple of Item
        Sorted by benchmark and id.
    configurations : tuple of Configuration
        Sorted by key.
    reference : int
        Index of the reference configuration.
    values : ndarray of uint8, shape (model, item, configuration)
        `WRONG`, `RIGHT`, `MISSING` (asked, no answer came back) or `NOT_APPLICABLE` (the
        configuration makes no sense for the item): the last two are different things.
    statuses : ndarray of uint8, same shape
        Index into `assay.records.schema.STATUSES`, or `ABSENT`.
    slots : ndarray of int8, same shape
        Position, as shown, of the option that a generation chose; -1 where there is none.
    gold_slots : ndarray of int8, shape (item, configuration)
        Position, as shown, of the gold option; -1 where no options are shown.
    labels : dict
        Generation format → kind of labels.
    synthetic : bool
        Whether a manifest says that no language model was asked.
    apart : Apart
        What was asked beside the configurations.
    """

    models: tuple[str, ...]
    items: tuple[Item, ...]
    configurations: tuple[Configuration, ...]
    reference: int
    values: NDArray[np.uint8]
    statuses: NDArray[np.uint8]
    slots: NDArray[np.int8]
    gold_slots: NDArray[np.int8]
    labels: dict[str, LabelKind]
    synthetic: bool = False
    apart: Apart = field(default_factory=Apart)

    @cached_property
    def present(self) -> Bools:
        """Whether an observation counts: neither missing nor not applicable."""
        return np.asarray(self.values <= RIGHT, bool)

    @cached_property
    def right(self) -> Bools:
        """Whether an observation is present and right."""
        return np.asarray(self.values == RIGHT, bool)

    @cached_property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks, sorted."""
        return tuple(sorted({item.benchmark for item in self.items}))

    @cached_property
    def benchmark_of(self) -> NDArray[np.str_]:
        """The benchmark of each item, shape (item,)."""
        return np.array([item.benchmark for item in self.items])

    @cached_property
    def cluster_of(self) -> NDArray[np.intp]:
        """Number of the cluster of each item, shape (item,); clusters lie within a benchmark."""
        numbers: dict[tuple[str, str], int] = {}
        keys = [(item.benchmark, item.cluster) for item in self.items]
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.intp)

    @property
    def reference_configuration(self) -> Configuration:
        """The configuration that the leaderboard is usually read at."""
        return self.configurations[self.reference]

    @property
    def whole(self) -> bool:
        """Whether there is one benchmark: what holds of it holds of all items, and conversely."""
        return len(self.benchmarks) == 1

    def scopes(self) -> Iterator[Scope]:
        """Yield all items pooled, then each benchmark."""
        for name in (POOLED, *self.benchmarks):
            yield self.scope(name)

    def scope(self, name: str) -> Scope:
        """Return the scope of a benchmark, or "all"."""
        return Scope(name, np.array([name in (POOLED, item.benchmark) for item in self.items]))

    @cached_property
    def applicable(self) -> Bools:
        """Shape (item, configuration): whether it makes sense for the item, whoever is asked."""
        return np.asarray((self.values != NOT_APPLICABLE).all(axis=0), bool)

    def offered(self, scope: Scope) -> NDArray[np.intp]:
        """Return the configurations that make sense for at least one item of `scope`."""
        return np.flatnonzero(self.applicable[scope.items].any(axis=0))

    def complete(self, scope: Scope) -> Bools:
        """Return, shape (model, item), where every offered configuration was observed.

        Locked items, which are asked in one order only, are never complete: a comparison of
        configurations must not compare different items.
        """
        offered = self.offered(scope)
        whole = offered.size == self.present.shape[2]
        observed = (self.present if whole else self.present[:, :, offered]).all(axis=2)
        return np.asarray(observed & scope.items, bool)

    def ranked(self, scope: Scope) -> NDArray[np.intp]:
        """Return the models that have at least one observation in `scope`."""
        return np.flatnonzero(self.present[:, scope.items].any(axis=(1, 2)))

    def chance(self, items: Bools) -> float:
        """Return the expected accuracy of uniform guessing, mean(1 / options) over `items`."""
        options = np.array([item.options for item in self.items])[items]
        return float(np.mean(1 / options)) if options.size else float("nan")
