"""How much of the variance of an outcome belongs to items, models, configurations and chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.cube import Cube
from assay.leaderboard.finding import Finding
from assay.leaderboard.mean_squares import COMPONENTS, Moments, components, solve
from assay.leaderboard.wording import percent
from assay.stats.resampling import bootstrap_means
from assay.stats.weights import FEWEST_UNITS

Floats = NDArray[np.float64]

METHOD = (
    "linear-probability expected mean squares; models and configurations fixed; centred "
    "percentile bootstrap of items"
)
_REFERENCE = "Searle, Casella & McCulloch (1992), Variance Components, chapter 4"
#: Models whose cells are resampled at once.
_MODELS_AT_ONCE = 32


@dataclass(frozen=True)
class VarianceFinding(Finding):
    """Components of the variance of one outcome (right = 1, wrong = 0).

    Attributes
    ----------
    components : tuple of str
        `COMPONENTS`; without an A/A flip rate the last two are one, and `noise` is NaN.
    estimate, low, high : ndarray of float, shape (component,)
        In squared outcomes. Estimates may be negative: cutting them at zero would bias them.
    share : ndarray of float, shape (component,)
        Of the sum of the estimates, which is the variance of an outcome drawn at random.
    level : float
        Of the intervals.
    items, models, configurations : int
    complete_share : float
        Share of the scope's items that are complete, and therefore used.
    flip_rate : float
        A/A disagreement that the noise was taken from, or NaN.
    method, reference : str
    """

    name: ClassVar[str] = "variance_components"
    components: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    share: Floats
    level: float
    items: int
    models: int
    configurations: int
    complete_share: float
    flip_rate: float
    method: str = METHOD
    reference: str = _REFERENCE

    @property
    def reading(self) -> str:
        """Which interaction is large, and what is confounded."""
        if np.isnan(self.estimate[0]):
            return (
                "Variance components are unknown: they need two models, two configurations and "
                f"two complete items, and there are {self.models}, {self.configurations} and "
                f"{self.items}."
            )
        last = "" if np.isfinite(self.flip_rate) else ", which without an A/A run includes noise"
        parts = [f"{name} {self._part(name)}" for name in self.components[:-2]]
        return (
            f"Of the variance of one outcome over {self.items:,} complete items "
            f"({percent(self.complete_share)} of all), {self.models} models and "
            f"{self.configurations} configurations, {', '.join(parts)}; the three-way term is "
            f"{self._part('item x model x configuration')}{last} (shares, "
            f"{100 * self.level:g} % intervals over items)."
        )

    def _part(self, name: str) -> str:
        k = self.components.index(name)
        total = float(np.nansum(self.estimate))
        if total <= 0:
            return "has no share, since no outcome varies"
        if np.isnan(self.low[k]):
            return f"{percent(self.share[k])} (too few clusters of items for an interval)"
        low, high = 100 * self.low[k] / total, 100 * self.high[k] / total
        return f"{percent(self.share[k])} ({low:.1f} to {high:.1f})"


def variance(
    correctness: Correctness,
    scope: Scope,
    *,
    flip_rate: float | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> VarianceFinding:
    """Split the variance of an outcome into components.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
        Only items that every model answered under every configuration are used.
    flip_rate : float, optional
        Share of items on which an A/A replicate disagrees with itself. Half of it is the noise
        variance of one outcome; without it, noise and three-way interaction are one component.
    level, draws, seed
        Of the item bootstrap. Clusters of items are drawn whole.

    Returns
    -------
    VarianceFinding
        NaN with fewer than two models, configurations or complete items; intervals are NaN with
        fewer than six items or clusters to draw.

    Raises
    ------
    AnalysisError
        If `flip_rate` is not between 0 and 1.
    """
    if flip_rate is not None and not 0 <= flip_rate <= 1:
        raise AnalysisError(f"a flip rate of {flip_rate} is no share.")
    cube = Cube.of(correctness, scope)
    m, n, c = cube.right.shape
    estimate = low = high = np.full(len(COMPONENTS), np.nan)
    if min(m, n, c) >= 2:
        estimate = components(cube.right, flip_rate=flip_rate)
    if min(m, n, c) >= 2 and cube.units >= FEWEST_UNITS:
        low, high = _centred_interval(estimate, _drawn(cube, flip_rate, draws, seed), level)
    total = float(np.nansum(estimate))
    return VarianceFinding(
        benchmark=scope.benchmark,
        components=COMPONENTS,
        estimate=estimate,
        low=low,
        high=high,
        share=estimate / total if total > 0 else np.full(len(COMPONENTS), np.nan),
        level=level,
        items=n,
        models=m,
        configurations=c,
        complete_share=cube.share,
        flip_rate=np.nan if flip_rate is None else flip_rate,
    )


def variance_table(finding: VarianceFinding) -> pd.DataFrame:
    """Return one row for each component: benchmark, component, estimate, low, high, share, n."""
    return pd.DataFrame(
        {
            "benchmark": finding.benchmark,
            "component": finding.components,
            "estimate": finding.estimate,
            "low": finding.low,
            "high": finding.high,
            "share": finding.share,
            "n": finding.items,
        }
    )


def _drawn(cube: Cube, flip_rate: float | None, draws: int, seed: int) -> Floats:
    """Return the components of bootstrap samples of items, shape (component, draw)."""
    m, n, c = cube.right.shape
    by_model = cube.right.sum(axis=2, dtype=np.int64)
    by_configuration = cube.right.sum(axis=0, dtype=np.int64)
    total = by_model.sum(axis=0)
    squares = [total, (by_model**2).sum(axis=0), (by_configuration**2).sum(axis=1), total**2]
    resample = partial(bootstrap_means, draws=draws, seed=seed, clusters=cube.clusters)
    cell, model, configuration, item = resample(np.stack(squares, axis=1)).T
    mean_cell, mean_model = np.zeros(draws), np.zeros(draws)
    over_models = np.zeros((draws, c))
    for first in range(0, m, _MODELS_AT_ONCE):
        # The same seed draws the same items for every slice of the models.
        chunk = cube.right[first : first + _MODELS_AT_ONCE]
        means = resample(chunk.transpose(1, 0, 2).reshape(n, -1))
        means = means.reshape(draws, len(chunk), c)
        mean_cell += (means**2).sum(axis=(1, 2))
        mean_model += (means.sum(axis=2) ** 2).sum(axis=1)
        over_models += means.sum(axis=1)
    moments = Moments(
        cell=cell,
        model=model,
        configuration=configuration,
        item=item,
        mean_cell=mean_cell,
        mean_model=mean_model,
        mean_configuration=(over_models**2).sum(axis=1),
        mean_item=over_models.sum(axis=1) ** 2,
    )
    return solve(moments, m, n, c, flip_rate)


def _centred_interval(estimate: Floats, drawn: Floats, level: float) -> tuple[Floats, Floats]:
    """Return percentile intervals of draws that were shifted to have the estimate as mean.

    The estimates are free of the sampling noise of the items and the draws add it once more, so
    that plain percentiles of the fixed components would lie too high.
    """
    shifted = drawn + (estimate - drawn.mean(axis=1))[:, None]
    low, high = np.quantile(shifted, ((1 - level) / 2, (1 + level) / 2), axis=1)
    return low, high
