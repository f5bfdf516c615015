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

from assay.leaderboard.additive import fit_additive, fit_level
from assay.leaderboard.correctness import Bools, Correctness, family

METHOD = (
    "an additive logistic model (model + item + configuration, no interaction) per benchmark, "
    "drawn with correlations within model and item, and within family, that match the observed "
    "disagreement"
)
#: A probability of 0 or 1 has no place on the copula's scale.
_EDGE = 1e-6
#: Of the interval [0, 1] that a correlation is sought in.
_HALVINGS = 10
#: Cells of a benchmark from which on the item and configuration effects and the correlations are
#: fitted to every n-th model by accuracy, as many as stay below it.
_MOST_CELLS = 2**24


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
    """One benchmark: its thresholds on the normal scale, and how the noise is correlated.

    `threshold` has shape (model, item, configuration), in half precision: it moves no probability
    by more than .0005.
    """

    items: slice
    threshold: NDArray[np.float16]
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
                _draw(part.threshold, part.correlation, self._families, rng, right[:, part.items])
            right &= self._present
            yield right

    def _fit(self, correctness: Correctness, number: int) -> _Part:
        """Fit a benchmark; its items follow each other."""
        inside = np.flatnonzero(correctness.benchmark_of == correctness.benchmarks[number])
        items = slice(int(inside[0]), int(inside[-1]) + 1)
        right, present = correctness.right[:, items], correctness.present[:, items]
        some = _spread(right)
        _, item, configuration = fit_additive(right[some], present[some])
        shared = item[:, None] + configuration
        threshold = np.empty(right.shape, np.float16)
        for m in range(len(right)):
            chance = expit(fit_level(right[m], present[m], shared) + shared)
            threshold[m] = ndtri(np.clip(chance, _EDGE, 1 - _EDGE))
        correlation = self._correlation(right[some], present[some], threshold[some], number)
        return _Part(items, threshold, correlation)

    def _correlation(
        self, right: Bools, present: Bools, threshold: NDArray[np.float16], number: int
    ) -> Correlation:
        target = disagreement(present, right, self._families)
        drawn = np.empty(right.shape, bool)

        def match(which: int) -> float:
            """Return the common correlation at which the twin disagrees as the data do."""
            low, high = 0.0, 1.0
            for _ in range(_HALVINGS if not np.isnan(target[which]) else 0):
                middle = (low + high) / 2
                # The same random numbers each time make the disagreement a smooth function.
                rng = np.random.default_rng([self._seed, 0, number])
                _draw(threshold, Correlation(middle, middle), self._families, rng, drawn)
                if disagreement(present, drawn & present, self._families)[which] > target[which]:
                    low = middle
                else:
                    high = middle
            return low

        between = match(0)
        return Correlation(between, max(between, match(1)))


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
    threshold: NDArray[np.float16],
    correlation: Correlation,
    families: NDArray[np.intp],
    rng: np.random.Generator,
    into: Bools,
) -> None:
    """Draw outcomes like `threshold`, shape (model, item, configuration), model by model."""
    items, ways = threshold.shape[1:]
    shares = (
        correlation.between,
        correlation.within - correlation.between,
        1 - correlation.within,
    )
    scales = np.sqrt(np.array(shares, np.float32))
    members = [np.flatnonzero(families == f) for f in range(int(families.max()) + 1)]
    for m, own in enumerate(threshold):
        cell = scales[0] * rng.standard_normal((items, 1), np.float32)
        kin = scales[1] * rng.standard_normal((items, len(members)), np.float32) + cell
        noise = rng.standard_normal((items, ways), np.float32)
        noise *= scales[2]
        noise += own
        for f, member in enumerate(members):
            noise[:, member] += kin[:, f : f + 1]
        np.greater(noise, 0, out=into[m])


def _spread(right: Bools) -> NDArray[np.intp]:
    """Return the models to fit shared effects to: all, or every n-th by accuracy."""
    models = len(right)
    most = max(_MOST_CELLS // right[0].size, 2)
    if models <= most:
        return np.arange(models)
    order = np.argsort(-right.sum(axis=(1, 2)), kind="stable")
    return np.sort(order[np.linspace(0, models - 1, most).round().astype(np.intp)])
