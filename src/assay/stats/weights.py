"""What is resampled: items, or clusters of items as a whole, within strata."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import AnalysisError

_Indices = NDArray[np.intp]

#: With fewer units no interval is given; with at most `SCARCE_UNITS` it is too narrow.
FEWEST_UNITS, SCARCE_UNITS = 6, 20


@dataclass(frozen=True)
class Units:
    """Items grouped into the units that are drawn, numbered so that each stratum is contiguous.

    Attributes
    ----------
    order : ndarray of int, shape (item,)
        Items sorted by unit; within a unit they keep their order.
    starts : ndarray of int, shape (unit,)
        Where each unit begins in `order`.
    sizes : ndarray of int, shape (unit,)
        Items of each unit.
    first, count : int or ndarray of int, shape (unit,)
        First unit and number of units of the stratum that the draw at this place comes from; one
        number where there is one stratum.
    """

    order: _Indices
    starts: _Indices
    sizes: _Indices
    first: int | _Indices
    count: int | _Indices

    @classmethod
    def of(
        cls, items: int, *, clusters: ArrayLike | None = None, strata: ArrayLike | None = None
    ) -> Units:
        """Group `items` items.

        Parameters
        ----------
        items : int
        clusters : array_like, shape (item,), optional
            Label of each item's cluster; without it each item is drawn by itself.
        strata : array_like, shape (item,), optional
            Label of each item's stratum; a draw holds as many units of each stratum as the data.

        Raises
        ------
        AnalysisError
            If there is no item, a list has another length, or a cluster spans two strata.
        """
        cluster = _codes(np.arange(items) if clusters is None else clusters, items, "cluster")
        stratum = _codes(np.zeros(items) if strata is None else strata, items, "stratum")
        order = np.lexsort((cluster, stratum))
        changes = np.diff(np.stack([cluster, stratum])[:, order], prepend=-1)
        starts = np.flatnonzero(changes.any(axis=0))
        if starts.size != cluster.max() + 1:
            raise AnalysisError(
                "a cluster has items in more than one stratum.",
                fix="name clusters so that each lies within one stratum.",
            )
        counts = np.bincount(stratum[order][starts])
        if strata is not None and (counts == 1).any():
            warnings.warn("a stratum of one unit never varies", RuntimeWarning, stacklevel=3)
        single = counts.size == 1
        return cls(
            order=order,
            starts=starts,
            sizes=np.diff(starts, append=items),
            first=0 if single else np.repeat(np.cumsum(counts) - counts, counts),
            count=int(counts[0]) if single else np.repeat(counts, counts),
        )

    def __len__(self) -> int:
        return self.starts.size

    def weights(
        self, draws: int, rng: np.random.Generator, *, block: int
    ) -> Iterator[NDArray[np.float32]]:
        """Yield how often each unit is in each sample, in blocks of at most `block` samples.

        Yields
        ------
        ndarray of float32, shape (draw, unit)
            Multinomial counts. The random stream is read one sample after the other, so that the
            size of the blocks changes no number.
        """
        units = len(self)
        for done in range(0, draws, block):
            rows = min(block, draws - done)
            drawn = rng.integers(self.count, size=(rows, units))
            drawn += self.first + units * np.arange(rows)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=rows * units)
            yield counts.reshape(rows, units).astype(np.float32)

    def items(self, units: _Indices) -> _Indices:
        """Return the items of the given units, one unit after the other."""
        sizes = self.sizes[units]
        ends = np.cumsum(sizes)
        offset = np.repeat(self.starts[units] - ends + sizes, sizes)
        return self.order[offset + np.arange(offset.size)]

    def sums(self, values: NDArray[np.generic]) -> NDArray[np.floating]:
        """Return the sum of each unit over axis 0 of `values`, shape (unit, ...).

        In single precision where that is exact: bits and bytes of few enough items.
        """
        exact = values.dtype.itemsize == 1 and len(values) < 2**16
        ordered: NDArray[np.floating] = values[self.order].astype(
            np.float32 if exact else np.float64
        )
        if len(self) == len(self.order):
            return ordered
        summed: NDArray[np.floating] = np.add.reduceat(ordered, self.starts, axis=0)
        return summed


def warn_degenerate(units: int, *, undefined: bool) -> None:
    """Warn, for the caller of the caller, where an interval is undefined or too narrow."""
    message = None
    if units < FEWEST_UNITS:
        message = f"{units} units are too few for a bootstrap interval ({FEWEST_UNITS} needed)"
    elif undefined:
        message = "the statistic does not vary, or is undefined in a sample: no interval"
    elif units <= SCARCE_UNITS:
        message = f"a bootstrap interval of {units} units is too narrow"
    if message:
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def _codes(labels: ArrayLike, items: int, what: str) -> _Indices:
    values = np.asarray(labels)
    if items < 1:
        raise AnalysisError("nothing to resample: there is no item.")
    if values.shape != (items,):
        raise AnalysisError(
            f"{items} items need {items} {what} labels, not an array of shape {values.shape}."
        )
    codes: _Indices = np.unique(values, return_inverse=True)[1]
    return codes
