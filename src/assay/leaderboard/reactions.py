"""Whether models react differently to the family of configurations.

An effect that moves all models alike changes no ranking. What does is an interaction, and it has
a meaning only on a scale: the same step on the scale of ability moves a model near 50 % further
than one near 95 %. The scale here is the probit of accuracy, on which models and families add up
where item difficulties are normal and nothing interacts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.families import Families, families
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count
from assay.stats.clusters import MANY_CLUSTERS
from assay.stats.multiplicity import adjust_p

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reactions(Finding):
    """How each model's reaction to the families differs from that of the other models.

    Attributes
    ----------
    models, families : tuple of str
    items : int
        Observed for every model under every offered configuration.
    deviation, low, high : ndarray of float, shape (model, family)
        The model's probit accuracy in a family, less its mean over families, less the same for
        the mean of the other models; intervals by itself at level 1 - alpha.
    p_value : ndarray of float, shape (model,)
        That the model reacts like the others in every family.
    p_adjusted : ndarray of float, shape (model,)
        Over models (Holm).
    alpha : float
    """

    name: ClassVar[str] = "reactions"
    models: tuple[str, ...]
    families: tuple[str, ...]
    items: int
    deviation: Floats
    low: Floats
    high: Floats
    p_value: Floats
    p_adjusted: Floats
    alpha: float

    @property
    def reading(self) -> str:
        """How many models have a reaction of their own, and the strongest."""
        if np.isnan(self.p_value).all():
            return (
                "Whether models react differently to the family cannot be told: it takes two "
                f"models, two families and {MANY_CLUSTERS} independent items that each of them "
                "answers right in part."
            )
        found = int(np.sum(self.p_adjusted <= self.alpha))
        m, f = np.unravel_index(int(np.nanargmax(np.abs(self.deviation))), self.deviation.shape)
        return (
            f"{found} of {count(len(self.models), 'model')} "
            f"{'reacts' if found == 1 else 'react'} to the families in a way of "
            f"{'its' if found == 1 else 'their'} own (corrected over models); the largest "
            f"deviation is that of {self.models[m]} in {self.families[f]}, "
            f"{self.deviation[m, f]:+.2f} on the probit scale ({100 * (1 - self.alpha):g} % "
            f"interval {self.low[m, f]:+.2f} to {self.high[m, f]:+.2f}, "
            f"{count(self.items, 'item')})."
        )


def reactions(correctness: Correctness, scope: Scope, *, alpha: float = 0.05) -> Reactions:
    """Test for each model whether it reacts to the families as the other models do.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    alpha : float
        Family-wise error rate over models.

    Returns
    -------
    Reactions
        NaN where there are fewer than two models or families, fewer than 20 clusters of items, or
        a model has all or none right in a family (and then for every model, which is compared
        with it).

    Raises
    ------
    AnalysisError
        If alpha is out of range.

    Notes
    -----
    The probit of a mean is linear in the item's outcomes to first order, so that every deviation
    is a mean over items of its influence; Hotelling's T squared on the sums of clusters tests a
    model's deviations together. A floor that guessing puts under accuracy bends the scale: with
    accuracies near chance, a small deviation may come from the scale.

    References
    ----------
    Hotelling (1931), Annals of Mathematical Statistics 2:360-378; Loftus (1978), Memory & Cognition
    6:312-319 (interactions and scales).
    """
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
    found = families(correctness, scope)
    common = found.complete.all(axis=0)
    fit = _fit(found, 1 - alpha)
    return Reactions(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[k] for k in found.models),
        families=found.names,
        items=int(common.sum()),
        deviation=fit.deviation,
        low=fit.deviation - fit.reach,
        high=fit.deviation + fit.reach,
        p_value=fit.p_value,
        p_adjusted=adjust_p(fit.p_value, method="holm").p_values,
        alpha=alpha,
    )


@dataclass(frozen=True)
class _Fit:
    deviation: Floats
    reach: Floats
    p_value: Floats


def _fit(found: Families, level: float) -> _Fit:
    common = found.complete.all(axis=0)
    models, number = found.models.size, len(found.names)
    shares = found.hits[:, common] / found.sizes
    clusters = np.unique(found.clusters[common], return_inverse=True)[1]
    groups = int(clusters.max()) + 1 if clusters.size else 0
    unknown = np.full((models, number), np.nan)
    nothing = _Fit(unknown, unknown, unknown[:, 0] if number else np.full(models, np.nan))
    if models < 2 or number < 2 or groups < max(MANY_CLUSTERS, 2 * number):
        return nothing
    accuracy = shares.mean(axis=1)
    if np.any((accuracy == 0) | (accuracy == 1)):
        return nothing
    probit = special.ndtri(accuracy)
    slope = 1 / stats.norm.pdf(probit)
    # What each outcome moves its model's probits by, and all models together.
    moved = slope[:, None] * (shares - accuracy[:, None])
    every = moved.sum(axis=0), probit.sum(axis=0)
    fits = []
    for m in range(models):
        # Of a model and the mean of the others, less their means over families.
        value = _centred(probit[m] - (every[1] - probit[m]) / (models - 1))
        influence = _centred(moved[m] - (every[0] - moved[m]) / (models - 1))
        sums = np.stack([np.bincount(clusters, column, groups) for column in influence.T], axis=1)
        covariance = sums.T @ sums * groups / (groups - 1) / len(influence) ** 2
        fits.append(_tested(value, covariance, groups, level))
    return _Fit(*(np.array(values, float) for values in zip(*fits, strict=True)))


def _centred(values: Floats) -> Floats:
    return np.asarray(values - values.mean(axis=-1, keepdims=True), float)


def _tested(
    value: Floats, covariance: Floats, groups: int, level: float
) -> tuple[Floats, Floats, float]:
    """Return the deviations, half the width of their intervals, and the joint p-value."""
    reach = stats.t.ppf((1 + level) / 2, groups - 1) * np.sqrt(np.diag(covariance))
    free = value.size - 1
    # Deviations sum to zero: all but the last say everything.
    inner = covariance[:free, :free]
    if np.linalg.matrix_rank(inner) < free:
        return value, reach, float("nan")
    distance = float(value[:free] @ np.linalg.solve(inner, value[:free]))
    scale = (groups - free) / (free * (groups - 1))
    return value, reach, float(stats.f.sf(scale * distance, free, groups - free))


def reaction_table(found: Reactions) -> pd.DataFrame:
    """Return one row for each model and family.

    Columns: model, benchmark, family (text), n (whole), deviation, low, high, p_value, p_adjusted
    (real; the p-values are the model's).
    """
    m, f = (axis.ravel() for axis in np.indices(found.deviation.shape))
    return pd.DataFrame(
        {
            "model": np.array(found.models, object)[m],
            "benchmark": found.benchmark,
            "family": np.array(found.families, object)[f],
            "n": found.items,
            "deviation": found.deviation[m, f],
            "low": found.low[m, f],
            "high": found.high[m, f],
            "p_value": found.p_value[m],
            "p_adjusted": found.p_adjusted[m],
        }
    )
