"""A twin of the data in which no model reacts to a configuration in its own way.

Some headlines are large even where configurations shift every model alike: an item near the
threshold flips for reasons that have nothing to do with the model. The twin says how large.

Method. In each benchmark a penalised additive logistic model ``model + item + configuration``,
without any model x configuration interaction, gives the marginal probability of every cell. Draws
are correlated by a Gaussian copula: one correlation between configurations of different families
for the same model and item, a larger one within a family. They make the twin disagree with itself,
between and within families, as often as the data do, so that only the pattern is free of
interaction. Missing and inapplicable observations stay so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from assay.leaderboard.correctness import Bools, Correctness, family

Floats32 = NDArray[np.float32]

METHOD = (
    "an additive logistic model (model + item + configuration, no interaction) per benchmark, "
    "drawn with correlations within model and item, and within family, that match the observed "
    "disagreement"
)
#: Prior s.d. of item effects in logits; keeps items that all models answer alike finite.
_ITEM_SD = 3.0
_SWEEPS = 200
_TOLERANCE = 1e-3
_LARGEST_STEP = 2.0
#: A probability of 0 or 1 has no place on the copula's scale.
_EDGE = 1e-6
#: Of the interval [0, 1] that a correlation is sought in.
_HALVINGS = 10


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlation of the latent noise of one model on one item.

    Attributes
    ----------
    between : float
        Of configurations of different families.
    within : float
        Of configurations of one family; not below `between`.
    """

    between: float
    within: float


@dataclass(frozen=True)
class _Part:
    """One benchmark: thresholds on the normal scale, and how the noise is correlated."""

    items: Bools
    threshold: Floats32
    correlation: Correlation


class NullTwin:
    """Simulated outcomes without a model x configuration interaction.

    Parameters
    ----------
    correctness : Correctness
        The data to imitate.
    seed : int
        Same seed and data, same draws.
    """

    def __init__(self, correctness: Correctness, *, seed: int):
        self._shape = correctness.values.shape
        self._present = correctness.present
        self._seed = seed
        names = [family(configuration) for configuration in correctness.configurations]
        self._families = np.unique(names, return_inverse=True)[1]
        self._parts = [
            self._fit(correctness, number) for number in range(len(correctness.benchmarks))
        ]

    @property
    def correlations(self) -> tuple[Correlation, ...]:
        """The fitted correlations of each benchmark."""
        return tuple(part.correlation for part in self._parts)

    def draws(self, count: int) -> Iterator[Bools]:
        """Yield `count` arrays like `Correctness.right`."""
        rng = np.random.default_rng([self._seed, 1])
        for _ in range(count):
            right = np.empty(self._shape, bool)
            for part in self._parts:
                right[:, part.items] = _draw(part.threshold, part.correlation, self._families, rng)
            yield right & self._present

    def _fit(self, correctness: Correctness, number: int) -> _Part:
        items = correctness.benchmark_of == correctness.benchmarks[number]
        right, present = correctness.right[:, items], correctness.present[:, items]
        chance = np.clip(fit_additive(right, present), _EDGE, 1 - _EDGE)
        threshold = ndtri(chance).astype(np.float32)
        target = disagreement(present, right, self._families)

        def match(which: int) -> float:
            """Return the common correlation at which the twin disagrees as the data do."""
            low, high = 0.0, 1.0
            for _ in range(_HALVINGS if not np.isnan(target[which]) else 0):
                middle = (low + high) / 2
                # The same random numbers each time make the disagreement a smooth function.
                rng = np.random.default_rng([self._seed, 0, number])
                drawn = _draw(threshold, Correlation(middle, middle), self._families, rng)
                if disagreement(present, drawn & present, self._families)[which] > target[which]:
                    low = middle
                else:
                    high = middle
            return low

        between = match(0)
        return _Part(items, threshold, Correlation(between, max(between, match(1))))


def fit_additive(right: Bools, present: Bools) -> Floats32:
    """Return the probability of each cell under model + item + configuration effects.

    Parameters
    ----------
    right, present : ndarray of bool, shape (model, item, configuration)

    Returns
    -------
    ndarray of float32, same shape
        Penalised maximum likelihood (item effects normal with s.d. 3 logits), by Newton steps
        on one family of effects at a time.
    """
    outcome, weight = right.astype(np.float32), present.astype(np.float32)
    effects = [np.zeros(size, np.float32) for size in right.shape]
    penalty = (1e-3, 1 / _ITEM_SD**2, 1e-3)
    for _ in range(_SWEEPS):
        largest = 0.0
        for axis in range(3):
            others = tuple(k for k in range(3) if k != axis)
            chance = expit(_sum(effects))
            slope = ((outcome - chance) * weight).sum(axis=others) - penalty[axis] * effects[axis]
            curve = (chance * (1 - chance) * weight).sum(axis=others) + penalty[axis]
            step = np.clip(slope / curve, -_LARGEST_STEP, _LARGEST_STEP)
            effects[axis] = effects[axis] + step
            largest = max(largest, float(np.abs(step).max()))
        # Only the sum of the three levels matters; along it, coordinate steps would crawl.
        for axis in (1, 2):
            level = effects[axis].mean()
            effects[axis], effects[0] = effects[axis] - level, effects[0] + level
        if largest < _TOLERANCE:
            break
    return np.asarray(expit(_sum(effects)), np.float32)


def _sum(effects: list[Floats32]) -> Floats32:
    model, item, configuration = effects
    return np.asarray(model[:, None, None] + item[None, :, None] + configuration, np.float32)


def disagreement(present: Bools, right: Bools, families: NDArray[np.intp]) -> tuple[float, float]:
    """Return how often two observations of one model on one item disagree.

    Parameters
    ----------
    present, right : ndarray of bool, shape (model, item, configuration)
    families : ndarray of int, shape (configuration,)

    Returns
    -------
    between, within : float
        Share of pairs of configurations of different families, and of one family; NaN where
        there are no such pairs.
    """
    member = np.eye(families.max() + 1, dtype=np.float32)[families]
    count, hits = present @ member, right @ member
    within_pairs = float((count * (count - 1) / 2).sum())
    within = float((hits * (count - hits)).sum())
    total, total_hits = count.sum(axis=2), hits.sum(axis=2)
    pairs = float((total * (total - 1) / 2).sum()) - within_pairs
    between = float((total_hits * (total - total_hits)).sum()) - within
    return (
        between / pairs if pairs else float("nan"),
        within / within_pairs if within_pairs else float("nan"),
    )


def _draw(
    threshold: Floats32,
    correlation: Correlation,
    families: NDArray[np.intp],
    rng: np.random.Generator,
) -> Bools:
    models, items, _ = threshold.shape
    cell = rng.standard_normal((models, items, 1), np.float32)
    kin = rng.standard_normal((models, items, int(families.max()) + 1), np.float32)
    own = rng.standard_normal(threshold.shape, np.float32)
    shares = (
        correlation.between,
        correlation.within - correlation.between,
        1 - correlation.within,
    )
    scales = np.sqrt(np.array(shares, np.float32))
    noise = scales[0] * cell + scales[1] * kin[:, :, families] + scales[2] * own
    return np.asarray(threshold + noise > 0)
