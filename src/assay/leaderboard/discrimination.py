"""Whether an item tells strong models from weak ones, and whether such items are the fragile ones.

Two things make this correlation larger than it is. An item that every model answers alike has no
discrimination; counting it as zero correlates it with the low fragility that such items have by
necessity. And both quantities depend on how hard the item is, so that models without any reaction
of their own to a configuration show a correlation too. Undefined items are therefore excluded and
counted, and the twin's value stands beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.leaderboard.correctness import Bools, Correctness, Scope
from assay.leaderboard.cube import cluster_codes, cut
from assay.leaderboard.finding import Finding
from assay.leaderboard.item_rest import point_biserial, resampled_correlation
from assay.leaderboard.items import ItemClasses
from assay.leaderboard.null_twin import NullTwin
from assay.leaderboard.wording import count

Floats = NDArray[np.float64]

METHOD = (
    "point-biserial against the score on the other items; Pearson correlation with fragility, "
    "percentile bootstrap of items"
)
_REFERENCE = "Lord & Novick (1968), Statistical Theories of Mental Test Scores, chapter 15"
#: Share of the twin's draws that its band holds.
_BAND = (0.025, 0.975)


@dataclass(frozen=True)
class DiscriminationFinding(Finding):
    """Correlation over items of discrimination at the reference with fragility.

    Attributes
    ----------
    correlation, low, high : float
        Over the items whose discrimination is defined, with a bootstrap interval for items like
        these and the same models; scores are recomputed in every sample of the items.
    level : float
    items, undefined : int
        Items with a discrimination, and those without: every model right, every model wrong, or
        no difference between the scores on the rest.
    mean : float
        Mean discrimination.
    zero_coded : float
        The correlation when undefined discriminations are counted as zero, as is often done.
    twin, twin_low, twin_high : float
        Mean and central 95 % of the correlation in twins without interaction.
    models : int
    method, reference : str
    """

    name: ClassVar[str] = "discrimination"
    correlation: float
    low: float
    high: float
    level: float
    items: int
    undefined: int
    mean: float
    zero_coded: float
    twin: float
    twin_low: float
    twin_high: float
    models: int
    method: str = METHOD
    reference: str = _REFERENCE

    @property
    def reading(self) -> str:
        """Whether discriminating items are fragile ones, beside what the twin gives."""
        left_out = (
            f"{count(self.undefined, 'item')} that cannot tell the models apart "
            f"{'is' if self.undefined == 1 else 'are'} left out"
        )
        if np.isnan(self.correlation):
            return (
                "Whether discriminating items are the fragile ones is unknown: it takes three "
                f"items on which both vary, which {count(self.items, 'item')} with a "
                f"discrimination, of {count(self.models, 'model')}, do not give; {left_out}."
            )
        text = (
            f"Over {count(self.items, 'item')}, discrimination at the reference correlates with "
            f"fragility at {self.correlation:.2f} ({self._interval}); {left_out}"
        )
        if self.undefined and np.isfinite(self.zero_coded):
            text += f" (counted as zero they would make it {self.zero_coded:.2f})"
        if np.isfinite(self.twin):
            text += (
                ", and simulated models without any reaction of their own to a configuration "
                f"give {self.twin:.2f} (95 % of draws: {self.twin_low:.2f} to {self.twin_high:.2f})"
            )
        return f"{text}."

    @property
    def _interval(self) -> str:
        if np.isnan(self.low):
            return "too few clusters of items for an interval"
        return f"{100 * self.level:g} % interval {self.low:.2f} to {self.high:.2f}"


def discrimination(
    correctness: Correctness,
    scope: Scope,
    *,
    level: float = 0.95,
    draws: int = 2_000,
    twin: TwinCorrelations | None = None,
    twin_draws: int = 100,
    seed: int = 0,
) -> DiscriminationFinding:
    """Correlate the discrimination of items with their fragility.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
        Items that every ranked model answered at the reference are used.
    level, draws, seed
        Of the item bootstrap; clusters are drawn whole.
    twin : TwinCorrelations, optional
        What draws of a twin gave; without it one is fitted and drawn here.
    twin_draws : int
        Simulated leaderboards behind the twin's band, where they are drawn here.

    Returns
    -------
    DiscriminationFinding
        NaN with fewer than three items that have both numbers, or where either does not vary.
    """
    part = _Part.of(correctness, scope)
    both = part.scores(correctness.right, part.classes(correctness.right))
    defined = ~np.isnan(both).any(axis=0)
    power, fragility = both[:, defined]
    value = correlation(power, fragility)
    low = high = float("nan")
    if np.isfinite(value):
        clusters = cluster_codes(correctness, part.items)
        at_reference = part.at_reference(correctness.right)
        low, high = _interval(
            resampled_correlation(at_reference, both[1], clusters=clusters, draws=draws, seed=seed),
            level,
        )
    middle = twin_low = twin_high = float("nan")
    if np.isfinite(value):
        simulated = twin or _simulated(correctness, scope, twin_draws, seed)
        middle, twin_low, twin_high = simulated.summary
    judged = ~np.isnan(both[1])
    return DiscriminationFinding(
        benchmark=scope.benchmark,
        correlation=value,
        low=low,
        high=high,
        level=level,
        items=int(defined.sum()),
        undefined=int(np.isnan(both[0]).sum()),
        mean=float(power.mean()) if power.size else float("nan"),
        zero_coded=correlation(np.nan_to_num(both[0][judged]), both[1][judged]),
        twin=middle,
        twin_low=twin_low,
        twin_high=twin_high,
        models=part.models.size,
    )


def discrimination_table(correctness: Correctness, scope: Scope) -> pd.DataFrame:
    """Return one row for each item: benchmark, item_id, discrimination (or NaN) and fragility."""
    part = _Part.of(correctness, scope)
    power, fragility = part.scores(correctness.right, part.classes(correctness.right))
    return pd.DataFrame(
        {
            "benchmark": correctness.benchmark_of[part.items],
            "item_id": [correctness.items[k].item_id for k in part.items],
            "discrimination": power,
            "fragility": fragility,
        }
    )


@dataclass(frozen=True)
class _Part:
    """The cells of a scope that the correlation rests on, for the data and for its twins."""

    models: NDArray[np.intp]
    items: NDArray[np.intp]
    offered: NDArray[np.intp]
    present: Bools
    reference: int

    @classmethod
    def of(cls, correctness: Correctness, scope: Scope) -> _Part:
        models, offered = correctness.ranked(scope), correctness.offered(scope)
        at_reference = correctness.present[models, :, correctness.reference].all(axis=0)
        items = np.flatnonzero(at_reference & scope.items)
        present = cut(correctness.present, models, items, offered)
        return cls(models, items, offered, present, correctness.reference)

    def cut(self, right: Bools) -> Bools:
        """Return the outcomes of these cells."""
        return cut(right, self.models, self.items, self.offered)

    def classes(self, right: Bools) -> ItemClasses:
        """Return the classes of the items."""
        return ItemClasses.of(self.present, self.cut(right))

    def scores(self, right: Bools, classes: ItemClasses) -> Floats:
        """Return discrimination and fragility, shape (2, item), of data or of a twin."""
        judged = classes.judged.sum(axis=0)
        fragile = (classes.fragile & classes.judged).sum(axis=0)
        fragility = np.divide(fragile, judged, out=np.full(judged.shape, np.nan), where=judged > 0)
        return np.stack([point_biserial(self.at_reference(right)), fragility])

    def at_reference(self, right: Bools) -> Bools:
        """Return the outcomes at the reference, shape (model, item)."""
        return cut(right[:, :, self.reference], self.models, self.items)


class TwinCorrelations:
    """The correlation of discrimination with fragility over the draws of a twin.

    Parameters
    ----------
    correctness : Correctness
        What the twin was fitted to.
    scope : Scope
    """

    def __init__(self, correctness: Correctness, scope: Scope):
        self._part = _Part.of(correctness, scope)
        self._observed = self._part.classes(correctness.right)
        self._drawn: list[float] = []

    def add(self, right: Bools) -> None:
        """Take a draw, an array like `Correctness.right`."""
        classes = self._observed.redrawn(self._part.cut(right))
        both = self._part.scores(right, classes)
        self._drawn.append(correlation(*both[:, ~np.isnan(both).any(axis=0)]))

    @property
    def summary(self) -> tuple[float, float, float]:
        """Mean and central 95 % of the correlation; NaN where it is never defined."""
        known = np.array(self._drawn)[~np.isnan(self._drawn)]
        if not known.size:
            return float("nan"), float("nan"), float("nan")
        low, high = np.quantile(known, _BAND)
        return float(known.mean()), float(low), float(high)


def correlation(x: Floats, y: Floats) -> float:
    """Return Pearson's correlation; NaN with fewer than three values or where one is constant."""
    if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    a, b = x - x.mean(), y - y.mean()
    return float((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()))


def _interval(drawn: Floats, level: float) -> tuple[float, float]:
    known = drawn[~np.isnan(drawn)]
    if not known.size:
        return float("nan"), float("nan")
    low, high = np.quantile(known, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def _simulated(correctness: Correctness, scope: Scope, draws: int, seed: int) -> TwinCorrelations:
    found = TwinCorrelations(correctness, scope)
    if draws:
        for right in NullTwin(correctness, seed=seed).draws(draws):
            found.add(right)
    return found
