"""How much two rankings can agree when only the items differ: the ceiling of tau."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.leaderboard.cube import Cube
from assay.stats.rank import kendall_matrix

Floats = NDArray[np.float64]

#: Sets this module's random numbers apart from others of the same seed.
_STREAM = 43


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """Mean tau-b between rankings, at three degrees of difference.

    Attributes
    ----------
    same_items : float
        Two configurations on the same items: what is usually printed.
    across : float
        Two configurations on different halves of the items.
    ceiling : float
        One configuration on different halves: all disagreement is the sampling of items.
    splits : int
    items : int
        Of one half.
    """

    same_items: float
    across: float
    ceiling: float
    splits: int
    items: int

    @classmethod
    def unknown(cls) -> SplitHalf:
        """Return the result where there is nothing to split."""
        return cls(float("nan"), float("nan"), float("nan"), 0, 0)

    @property
    def reading(self) -> str:
        """The end of a sentence."""
        if np.isnan(self.ceiling):
            return "the ceiling of tau is unknown"
        text = (
            f"on halves of {self.items:,} items one configuration agrees with itself at a tau of "
        )
        if np.isnan(self.across):
            return f"{text}{self.ceiling:.2f}"
        return (
            f"{text}{self.ceiling:.2f} and with another at {self.across:.2f} "
            f"({self.same_items:.2f} on the same items)"
        )


def split_half(cube: Cube, *, splits: int, seed: int) -> SplitHalf:
    """Compare rankings on random halves of the items.

    Parameters
    ----------
    cube : Cube
        Clusters stay in one half.
    splits : int
    seed : int

    Returns
    -------
    SplitHalf
        Means over splits and over (pairs of) configurations; NaN where no tau is defined.

    Notes
    -----
    Tau between two configurations on the same items shares the luck of the items and can exceed
    the ceiling; `across` does not, so that `ceiling` - `across` is what the configurations change.
    """
    n, c = cube.right.shape[1:]
    units = np.arange(n) if cube.clusters is None else cube.clusters
    number = cube.units
    if number < 2 or splits < 1:
        return SplitHalf.unknown()
    rng = np.random.default_rng([seed, _STREAM])
    total = cube.right.sum(axis=1, dtype=np.int64)
    different = ~np.eye(c, dtype=bool)
    across, ceiling, sizes = [], [], []
    for _ in range(splits):
        first = rng.permutation(number)[units] < number // 2
        one = cube.right[:, first].sum(axis=1, dtype=np.int64)
        tau = kendall_matrix(np.concatenate([one, total - one], axis=1).T)[:c, c:]
        ceiling.append(_mean(np.diag(tau)))
        across.append(_mean(tau[different]))
        sizes.append(first.sum())
    same = kendall_matrix(total.T)[different]
    half = int(np.mean(sizes))
    return SplitHalf(_mean(same), _mean(np.array(across)), _mean(np.array(ceiling)), splits, half)


def binomial_ceiling(accuracy: Floats, items: int, *, splits: int = 200, seed: int = 0) -> float:
    """Return the ceiling of tau where only accuracies, and no items, are at hand.

    Parameters
    ----------
    accuracy : ndarray of float, shape (model,)
        Taken as the truth. It is spread wider than the truth by its own noise, so that the
        result is, if anything, too high.
    items : int
        Items behind each accuracy, answered independently by different models.
    splits : int
        Simulated pairs of samples.
    seed : int

    Returns
    -------
    float
        Mean tau-b between two simulated samples; NaN where it is never defined.

    Examples
    --------
    >>> binomial_ceiling(np.array([0.1, 0.5, 0.9]), 1000)
    1.0
    """
    rng = np.random.default_rng([seed, _STREAM])
    right = rng.binomial(items, accuracy, (splits, 2, accuracy.size))
    return _mean(np.array([kendall_matrix(pair)[0, 1] for pair in right]))


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
