"""Which gaps a leaderboard of this size can show, at the disagreement of these models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, percent, points
from assay.stats.power import minimum_detectable_effect, needed_n

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KINDS = ("low", "median", "high")
_QUARTILES = (0.25, 0.5, 0.75)
#: The curve's numbers of items: half a decade below the scope's own to one and a half above.
_FACTORS = 10.0 ** np.arange(-0.5, 1.51, 0.25)
_FEWEST = 20
_POWER = 0.8
#: A gap that a reader asks about.
_ASKED = 0.02


@dataclass(frozen=True)
class PowerCurve(Finding):
    """The smallest gap in accuracy that the deciding test finds, by the number of items.

    Attributes
    ----------
    discordance : ndarray of float, shape (3,)
        Quartiles over pairs of models of the share of items at the reference configuration on
        which exactly one is right.
    n : ndarray of int, shape (size,)
        Numbers of items; the scope's own is among them.
    effect : ndarray of float, shape (3, size)
        NaN where so few items show no gap at that discordance.
    items, pairs : int
    needed : int or None
        Items that show a gap of 2 points at the median discordance; None where none do.
    alpha, power : float
        Two-sided level, and probability that the gap is found.
    method : str
    """

    name: ClassVar[str] = "power_curve"
    discordance: Floats
    n: Ints
    effect: Floats
    items: int
    pairs: int
    needed: int | None
    alpha: float
    power: float
    method: str = "exact two-sided McNemar"

    @property
    def reading(self) -> str:
        """What the scope's own number of items shows, and what 2 points would need."""
        if not self.pairs:
            return "Which gap these items show is unknown: it takes two models on common items."
        middle = float(self.discordance[1])
        own = float(self.effect[1, int(np.flatnonzero(self.n == self.items)[0])])
        shown = "no gap at all" if np.isnan(own) else f"a gap of {points(own)} points"
        more = (
            f"2 points would need {self.needed:,}"
            if self.needed
            else "2 points cannot be shown where models differ so seldom"
        )
        return (
            f"Where two models differ on {percent(middle)} of items, the median of "
            f"{count(self.pairs, 'pair')} (middle half {percent(self.discordance[0])} to "
            f"{percent(self.discordance[2])}), {count(self.items, 'item')} find {shown} "
            f"{100 * self.power:g} % of the time; {more}."
        )


def power_curve(correctness: Correctness, scope: Scope, *, alpha: float = 0.05) -> PowerCurve:
    """Compute the smallest detectable gap over numbers of items.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    alpha : float
        Two-sided level of the deciding test.

    References
    ----------
    Duffy (1984), Biometrics 40:1005-1015 (exact unconditional power of McNemar's test).
    """
    kept = correctness.ranked(scope)
    items = int(scope.items.sum())
    apart = _discordances(correctness, scope, kept)
    apart = apart[apart > 0]
    if not apart.size or items < 2:
        empty = np.empty((3, 0))
        none = np.full(3, np.nan)
        return PowerCurve(
            scope.benchmark, none, np.empty(0, np.int64), empty, items, 0, None, alpha, _POWER
        )
    quartiles = np.quantile(apart, _QUARTILES)
    sizes = np.unique(np.append(np.maximum(_FEWEST, np.round(items * _FACTORS)), items))
    sizes = sizes.astype(np.int64)
    effect = np.array([[_effect(int(n), float(d), alpha) for n in sizes] for d in quartiles])
    middle = float(quartiles[1])
    needed = None
    if middle >= _ASKED:
        needed = needed_n(effect=_ASKED, discordance=middle, alpha=alpha, power=_POWER).n
    return PowerCurve(
        benchmark=scope.benchmark,
        discordance=quartiles,
        n=sizes,
        effect=effect,
        items=items,
        pairs=int(apart.size),
        needed=needed,
        alpha=alpha,
        power=_POWER,
    )


def _effect(n: int, discordance: float, alpha: float) -> float:
    found = minimum_detectable_effect(n, discordance=discordance, alpha=alpha, power=_POWER)
    return found.effect


def _discordances(correctness: Correctness, scope: Scope, kept: NDArray[np.intp]) -> Floats:
    """Return the discordance of every pair of models over their common items, shape (pair,)."""
    at = correctness.reference
    right = correctness.right[kept][:, scope.items, at].astype(np.float32)
    present = correctness.present[kept][:, scope.items, at].astype(np.float32)
    lost = right @ (present - right).T
    n = present @ present.T
    upper = np.triu_indices(len(kept), 1)
    common = n[upper] > 0
    return np.asarray(((lost + lost.T)[upper][common]) / n[upper][common], float)


def power_table(finding: PowerCurve) -> pd.DataFrame:
    """Return one row for each quartile of discordance and number of items.

    Columns: benchmark, discordance_kind (text), discordance (real), n (whole), effect, alpha,
    power (real).
    """
    d, k = (axis.ravel() for axis in np.indices(finding.effect.shape))
    return pd.DataFrame(
        {
            "benchmark": finding.benchmark,
            "discordance_kind": np.array(KINDS, object)[d],
            "discordance": finding.discordance[d],
            "n": finding.n[k],
            "effect": finding.effect[d, k],
            "alpha": finding.alpha,
            "power": finding.power,
        }
    )
