"""The same configuration asked twice: how often an outcome changes although nothing did.

A flip between two configurations means something only beyond this rate. The replicate is no
threshold for a gap between models: it holds the noise of one run, not that of having asked these
items, and most gaps between equal models exceed the change of one replicate.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import NOT_APPLICABLE, RIGHT, Correctness, Scope
from assay.leaderboard.families import cluster_count
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, interval, percent
from assay.stats.clusters import clustered_difference
from assay.stats.multiplicity import adjust_p
from assay.stats.paired import PairedCounts, mcnemar_exact
from assay.stats.proportion import proportion_ci
from assay.stats.result import Interval

Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Replicate(Finding):
    """The flip rate of an A/A replicate, and the flips that exceed it.

    Attributes
    ----------
    models : tuple of str
    configurations : tuple of str
        The other offered configurations.
    rate : tuple of Interval
        Share of outcomes of each model that differ between the two runs (Clopper-Pearson).
    n : ndarray of int, shape (model, configuration)
        Items observed in both runs and under the configuration.
    flips, noise : ndarray of float, same shape
        Share of them that differ from the reference under the configuration, and in the
        replicate.
    p_value : ndarray of float, same shape
        One-sided, that the configuration flips more than the replicate does.
    p_adjusted : ndarray of float, same shape
        Over models and configurations of the scope (Holm).
    alpha : float
    """

    name: ClassVar[str] = "replicate"
    models: tuple[str, ...]
    configurations: tuple[str, ...]
    rate: tuple[Interval, ...]
    n: NDArray[np.int64]
    flips: Floats
    noise: Floats
    p_value: Floats
    p_adjusted: Floats
    alpha: float

    @property
    def reading(self) -> str:
        """The largest flip rate of the replicate, and how many flip claims stand."""
        known = [m for m, found in enumerate(self.rate) if not np.isnan(found.estimate)]
        if not known:
            return "The noise of a run is unknown: no item was asked twice in the same way."
        m = max(known, key=lambda m: float(self.rate[m].estimate))
        found = self.rate[m]
        spread = interval(float(found.low), float(found.high), level=found.level)
        claims = int(np.sum(self.p_adjusted <= self.alpha))
        tested = int(np.sum(~np.isnan(self.p_value)))
        return (
            f"Asked again in the same way, {self.models[m]} changes "
            f"{percent(float(found.estimate))} of {count(int(found.n), 'outcome')} ({spread})"
            f"{', the most of all models' if len(known) > 1 else ''}; {claims} of "
            f"{count(tested, 'pair')} of a model and a configuration flip more than their "
            "replicate (corrected over all of them)."
        )


def replicate(
    correctness: Correctness, scope: Scope, *, again: Codes, alpha: float = 0.05
) -> Replicate:
    """Estimate the flip rate of an A/A replicate and test every configuration against it.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    again : ndarray of uint8, shape (model, item)
        Codes, as in `Correctness.values`, of a second run of the reference configuration with the
        items in other batches.
    alpha : float
        Family-wise error rate of the flip claims; intervals have level 1 - alpha.

    Returns
    -------
    Replicate

    Raises
    ------
    AnalysisError
        If `again` has another shape or codes, or alpha is out of range.

    Notes
    -----
    The claim "discordance exceeds the flip rate" is tested on the same items: for each, whether the
    configuration and whether the replicate differ from the reference. One-sided exact McNemar, or
    the clustered difference where items share clusters.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26:404-413; McNemar (1947), Psychometrika 12:153-157.
    """
    _validate(correctness, again, alpha)
    kept, offered = correctness.ranked(scope), correctness.offered(scope)
    others = offered[offered != correctness.reference]
    cells = [[_against(correctness, scope, again, m, c) for c in others] for m in kept]
    n, flips, noise, p_value = np.moveaxis(
        np.array(cells, float).reshape(kept.size, others.size, 4), 2, 0
    )
    adjusted = adjust_p(p_value.ravel(), method="holm").p_values.reshape(p_value.shape)
    return Replicate(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[m] for m in kept),
        configurations=tuple(correctness.configurations[c].key for c in others),
        rate=tuple(_rate(correctness, scope, again, m, 1 - alpha) for m in kept),
        n=n.astype(np.int64),
        flips=flips,
        noise=noise,
        p_value=p_value,
        p_adjusted=adjusted,
        alpha=alpha,
    )


def _validate(correctness: Correctness, again: Codes, alpha: float) -> None:
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
    wanted = correctness.values.shape[:2]
    if again.shape != wanted:
        raise AnalysisError(
            f"a replicate of {wanted[0]} models × {wanted[1]} items has shape {again.shape}.",
            fix="give one code for each model and item, missing ones included.",
        )
    if np.any(again > NOT_APPLICABLE):
        raise AnalysisError("a replicate holds the codes 0 to 3 of Correctness.values.")


def _rate(correctness: Correctness, scope: Scope, again: Codes, m: int, level: float) -> Interval:
    at = correctness.reference
    both = scope.items & correctness.present[m, :, at] & (again[m] <= RIGHT)
    changed = correctness.values[m, both, at] != again[m, both]
    with warnings.catch_warnings():
        # A model that was not asked twice has no rate: the NaN says so.
        warnings.simplefilter("ignore", RuntimeWarning)
        return proportion_ci(
            int(changed.sum()), int(both.sum()), level=level, method="clopper-pearson"
        )


def _against(
    correctness: Correctness, scope: Scope, again: Codes, m: int, c: int
) -> tuple[float, float, float, float]:
    """Return items, flips, noise and p-value of one model and configuration."""
    at = correctness.reference
    values, present = correctness.values[m], correctness.present[m]
    kept = scope.items & present[:, at] & present[:, c] & (again[m] <= RIGHT)
    if not kept.any():
        return 0, np.nan, np.nan, np.nan
    flipped = values[kept, c] != values[kept, at]
    changed = again[m, kept] != values[kept, at]
    clusters = correctness.cluster_of[kept]
    if cluster_count(clusters) == clusters.size:
        counts = PairedCounts.of(changed, flipped)
        p_value = float(mcnemar_exact(counts, alternative="greater").p_value)
    else:
        excess = flipped.astype(float) - changed
        with warnings.catch_warnings():
            # Few clusters or no spread: the p-value is NaN or 1, and is counted as no claim.
            warnings.simplefilter("ignore", RuntimeWarning)
            p_value = clustered_difference(excess, clusters, alternative="greater").p_value
    return float(kept.sum()), float(flipped.mean()), float(changed.mean()), p_value


def replicate_table(found: Replicate) -> pd.DataFrame:
    """Return one row for each model and configuration.

    Columns: model, benchmark, configuration (text), n (whole), flips, noise, p_value, p_adjusted
    (real).
    """
    m, c = (axis.ravel() for axis in np.indices(found.n.shape))
    return pd.DataFrame(
        {
            "model": np.array(found.models, object)[m],
            "benchmark": found.benchmark,
            "configuration": np.array(found.configurations, object)[c],
            "n": found.n[m, c],
            "flips": found.flips[m, c],
            "noise": found.noise[m, c],
            "p_value": found.p_value[m, c],
            "p_adjusted": found.p_adjusted[m, c],
        }
    )
