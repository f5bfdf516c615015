"""How often two ways of asking disagree about the same item, and in which direction."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.leaderboard.correctness import Bools, Correctness, Scope
from assay.leaderboard.families import families, share_interval
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, interval, percent
from assay.stats.proportion import proportion_ci
from assay.stats.result import Interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Flips(Finding):
    """Every configuration against the reference, on the items observed under both.

    Attributes
    ----------
    models, configurations : tuple of str
        The reference is not among the configurations.
    n : ndarray of int, shape (model, configuration)
        Items observed under both.
    right_to_wrong, wrong_to_right : ndarray of int, same shape
    expected : ndarray of float, same shape
        The share of items that would flip if what is right under one said nothing about what is
        right under the other, at the accuracies of both.
    forced : ndarray of float, same shape
        The smallest share that must flip for the accuracies to differ as they do.
    """

    name: ClassVar[str] = "flips"
    models: tuple[str, ...]
    configurations: tuple[str, ...]
    n: Ints
    right_to_wrong: Ints
    wrong_to_right: Ints
    expected: Floats
    forced: Floats

    @property
    def share(self) -> Floats:
        """Share of items that flip."""
        size = np.where(self.n > 0, self.n, np.nan)
        return np.asarray((self.right_to_wrong + self.wrong_to_right) / size, float)

    @property
    def corrected(self) -> Floats:
        """Flips as a share of those expected by chance: 0 none, 1 as if unrelated.

        One minus Cohen's kappa of the two outcomes; NaN where none are expected.
        """
        return self.share / np.where(self.expected > 0, self.expected, np.nan)

    @property
    def reading(self) -> str:
        """How many outcomes change against the reference, and what chance would give."""
        total = int(self.n.sum())
        if not total:
            return "Flips are unknown: no item was observed under two configurations."
        lost, gained = (int(x.sum()) / total for x in (self.right_to_wrong, self.wrong_to_right))
        chance = float(np.nansum(self.expected * self.n)) / total
        items = int(self.n.max())
        text = (
            f"Against the reference, {percent(lost)} of outcomes turn from right to wrong and "
            f"{percent(gained)} from wrong to right ({total:,} comparisons on "
            f"{count(items, 'item')})"
        )
        if not chance:
            return f"{text}."
        return (
            f"{text}, {(lost + gained) / chance:.2f} times what unrelated outcomes of the same "
            "accuracies would give."
        )


def flips(correctness: Correctness, scope: Scope) -> Flips:
    """Split the flips against the reference into right to wrong and wrong to right.

    Their difference is the change in accuracy; their sum is not, and may be large where accuracy
    hardly moves.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20:37-46.
    """
    kept, offered = correctness.ranked(scope), correctness.offered(scope)
    others = offered[offered != correctness.reference]
    counts = [_turned(correctness, m, scope.items, others) for m in kept]
    n, lost, gained, kept_right = np.moveaxis(
        np.array(counts, np.int64).reshape(kept.size, 4, others.size), 1, 0
    )
    size = np.where(n > 0, n, np.nan)
    before, after = (kept_right + lost) / size, (kept_right + gained) / size
    return Flips(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[m] for m in kept),
        configurations=tuple(correctness.configurations[c].key for c in others),
        n=n,
        right_to_wrong=lost,
        wrong_to_right=gained,
        expected=before * (1 - after) + after * (1 - before),
        forced=np.abs(after - before),
    )


def _turned(
    correctness: Correctness, m: int, items: Bools, others: NDArray[np.intp]
) -> list[NDArray[np.int64]]:
    """Return, for one model, the items compared and those lost, gained and right both times."""
    right, present = correctness.right[m][items], correctness.present[m][items]
    at, now = right[:, [correctness.reference]], right[:, others]
    both = present[:, others] & present[:, [correctness.reference]]
    cells = (both, both & at & ~now, both & ~at & now, both & at & now)
    return [cell.sum(axis=0, dtype=np.int64) for cell in cells]


def flip_table(found: Flips) -> pd.DataFrame:
    """Return one row for each model and configuration other than the reference.

    Columns: model, benchmark, configuration (text), n, right_to_wrong, wrong_to_right (whole),
    flips, low, high (95 % Wilson interval of the flips, items as independent), expected, corrected,
    forced (real).
    """
    turned = found.right_to_wrong + found.wrong_to_right
    with warnings.catch_warnings():
        # A configuration that no item was observed under has no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        spread = proportion_ci(turned, found.n)
    m, c = (axis.ravel() for axis in np.indices(found.n.shape))
    return pd.DataFrame(
        {
            "model": np.array(found.models, object)[m],
            "benchmark": found.benchmark,
            "configuration": np.array(found.configurations, object)[c],
            "n": found.n[m, c],
            "right_to_wrong": found.right_to_wrong[m, c],
            "wrong_to_right": found.wrong_to_right[m, c],
            "flips": found.share[m, c],
            "low": np.asarray(spread.low)[m, c],
            "high": np.asarray(spread.high)[m, c],
            "expected": found.expected[m, c],
            "corrected": found.corrected[m, c],
            "forced": found.forced[m, c],
        }
    )


@dataclass(frozen=True)
class Disagreement(Finding):
    """How often two configurations disagree, averaged over pairs.

    Attributes
    ----------
    models : tuple of str
    families : tuple of str
    items : tuple of int
        Observed under every offered configuration.
    across : tuple of Interval
        Of each model: a random item, two random families, a random configuration of each.
    within : tuple of Interval
        Two different configurations of one family, averaged over families with more than one.
    expected : tuple of float
        What `across` would be if the outcomes of different families were unrelated.
    """

    name: ClassVar[str] = "disagreement"
    models: tuple[str, ...]
    families: tuple[str, ...]
    items: tuple[int, ...]
    across: tuple[Interval, ...]
    within: tuple[Interval, ...]
    expected: tuple[float, ...]

    @property
    def reading(self) -> str:
        """The model whose answers depend most on the family."""
        known = [m for m, found in enumerate(self.across) if not np.isnan(found.estimate)]
        if not known:
            return "Disagreement between families is unknown: no item was observed in two families."
        worst = max(known, key=lambda m: float(self.across[m].estimate))
        across, within = self.across[worst], self.within[worst]
        spread = interval(float(across.low), float(across.high), level=across.level)
        text = (
            f"Asked in two ways of different families, {self.models[worst]} is right one way only "
            f"on {percent(float(across.estimate))} of {count(self.items[worst], 'item')} "
            f"({spread}), {'the most of all models; ' if len(known) > 1 else ''}"
            f"unrelated outcomes would give {percent(self.expected[worst])}"
        )
        if np.isnan(within.estimate):
            return f"{text}."
        return f"{text}, and two ways of one family give {percent(float(within.estimate))}."


def disagreement(correctness: Correctness, scope: Scope, *, level: float = 0.95) -> Disagreement:
    """Return the mean disagreement between configurations of different families.

    Unlike the share of items that flip anywhere, it does not grow with the number of
    configurations: it is a mean over pairs, each pair of families with equal weight.

    Returns
    -------
    Disagreement
        NaN for `across` with one family, for `within` where no family has two configurations.
    """
    found = families(correctness, scope)
    across: list[Interval] = []
    within: list[Interval] = []
    expected = []
    for m in range(found.models.size):
        items = found.complete[m]
        shares, clusters = found.shares(m, items), found.clusters[items]
        total = int(found.sizes.sum())
        for values, kept in (
            (between_families(shares), across),
            (within_families(shares, found.sizes), within),
        ):
            known = ~np.isnan(values)
            kept.append(
                share_interval(values[known], clusters[known], observations=total, level=level)
            )
        means = shares.mean(axis=0) if len(shares) else np.full(len(found.names), np.nan)
        expected.append(float(between_families(means[None])[0]))
    return Disagreement(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[k] for k in found.models),
        families=found.names,
        items=tuple(int(n) for n in found.complete.sum(axis=1)),
        across=tuple(across),
        within=tuple(within),
        expected=tuple(expected),
    )


def between_families(shares: Floats) -> Floats:
    """Return the disagreement of two random families, one configuration of each.

    Parameters
    ----------
    shares : ndarray of float, shape (item, family)
        Share of the family's configurations under which the item is right.

    Returns
    -------
    ndarray of float, shape (item,)
        Mean over pairs of families of p (1 - q) + q (1 - p); NaN with one family.

    Examples
    --------
    >>> between_families(np.array([[1.0, 0.0], [1.0, 0.5], [1.0, 1.0]])).tolist()
    [1.0, 0.5, 0.0]
    """
    number = shares.shape[1]
    if number < 2:
        return np.full(len(shares), np.nan)
    ones, zeros = shares.sum(axis=1), (1 - shares).sum(axis=1)
    own = (shares * (1 - shares)).sum(axis=1)
    return np.asarray(2 * (ones * zeros - own) / (number * (number - 1)), float)


def within_families(shares: Floats, sizes: Ints) -> Floats:
    """Return the disagreement of two different configurations of one random family.

    Parameters
    ----------
    shares : ndarray of float, shape (item, family)
    sizes : ndarray of int, shape (family,)
        Configurations of each family; those with a single one are left out.

    Returns
    -------
    ndarray of float, shape (item,)
        NaN where no family has two configurations.

    Examples
    --------
    >>> within_families(np.array([[0.5, 1.0], [1.0, 0.0]]), np.array([2, 1])).tolist()
    [1.0, 0.0]
    """
    several = sizes > 1
    if not several.any():
        return np.full(len(shares), np.nan)
    p, k = shares[:, several], sizes[several]
    return np.asarray((2 * p * (1 - p) * k / (k - 1)).mean(axis=1), float)
