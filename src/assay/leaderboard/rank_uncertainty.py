"""How sure the ranking is: what another sample of items, or one benchmark less, would make of it.

Everything is over the items that every model answered under every configuration, as in
`assay.leaderboard.ranks`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from assay.leaderboard.correctness import POOLED, Correctness, Scope
from assay.leaderboard.cube import Cube
from assay.leaderboard.finding import Finding
from assay.leaderboard.ranks import Ranking, ranking
from assay.leaderboard.split_half import SplitHalf, split_half
from assay.leaderboard.wording import count, listed, percent
from assay.stats.rank import kendall_matrix
from assay.stats.rank_sets import rank_confidence
from assay.stats.resampling import bootstrap_mean_blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

METHOD = (
    "bootstrap of items for the distribution of ranks, simultaneous rank confidence sets, and "
    "random halves of the items for the ceiling of tau"
)
_REFERENCE = "Mogstad, Romano, Shaikh & Wilhelm (2024), Review of Economic Studies 91:476-518"


@dataclass(frozen=True)
class RankUncertaintyFinding(Finding):
    """Ranks at the reference configuration, and how far they may be trusted.

    Attributes
    ----------
    models : tuple of str
    rank : ndarray of int, shape (model,)
        At the reference; equals share the best of their places.
    probability : ndarray of float, shape (model, rank)
        Share of bootstrap samples of the items in which a model has the rank. Rows sum to one.
    low, high : ndarray of int, shape (model,)
        Confidence sets that hold all true ranks at once with probability `level`.
    level : float
    halves : SplitHalf
        Agreement of configurations, and its ceiling.
    items : int
    method, reference : str
    """

    name: ClassVar[str] = "rank_uncertainty"
    models: tuple[str, ...]
    rank: Ints
    probability: Floats
    low: Ints
    high: Ints
    level: float
    halves: SplitHalf
    items: int
    method: str = METHOD
    reference: str = _REFERENCE

    @property
    def reading(self) -> str:
        """Who may be first, and how much of the disagreement of configurations is sampling."""
        if not self.probability.size:
            return (
                "How sure the ranks are is unknown: they need two models and two complete items, "
                f"and there are {len(self.models)} and {self.items}."
            )
        first = [m for m, low in zip(self.models, self.low, strict=True) if low == 1]
        leader = int(np.argmin(self.rank))
        text = (
            f"On {count(self.items, 'item')} at the reference, {self.models[leader]} is first in "
            f"{percent(self.probability[leader, 0])} of resampled sets of items, and "
            f"{100 * self.level:g} % confidence sets leave the first rank to {_some(first)}"
        )
        return f"{text}; {self.halves.reading}."


def _some(models: list[str]) -> str:
    if len(models) > 4:
        return f"{len(models)} models"
    return listed(models)


def rank_uncertainty(
    correctness: Correctness,
    scope: Scope,
    *,
    level: float = 0.95,
    draws: int = 10_000,
    splits: int = 50,
    seed: int = 0,
) -> RankUncertaintyFinding:
    """Say how sure the ranks at the reference configuration are.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    level : float
        Of the confidence sets.
    draws, splits : int
        Bootstrap samples of the items, and random halves of them. Clusters stay whole.
    seed : int

    Returns
    -------
    RankUncertaintyFinding
        Empty arrays with fewer than two models or two complete items.
    """
    cube = Cube.of(correctness, scope)
    models, items, _ = cube.right.shape
    names = tuple(correctness.models[k] for k in cube.models)
    if models < 2 or items < 2:
        none, nothing = np.zeros(0, np.int64), np.zeros((0, 0))
        halves = SplitHalf.unknown()
        return RankUncertaintyFinding(
            scope.benchmark, names, none, nothing, none, none, level, halves, items
        )
    right = cube.right[:, :, cube.reference]
    with warnings.catch_warnings():
        # With few clusters the sets hold every rank, which is what the sentence then says.
        warnings.simplefilter("ignore", RuntimeWarning)
        sets = rank_confidence(
            right.T.astype(float), clusters=cube.clusters, level=level, draws=draws, seed=seed
        )
    return RankUncertaintyFinding(
        benchmark=scope.benchmark,
        models=names,
        rank=rankdata(-right.sum(axis=1), method="min").astype(np.int64),
        probability=rank_probability(cube, draws=draws, seed=seed),
        low=np.asarray(sets.low, np.int64),
        high=np.asarray(sets.high, np.int64),
        level=level,
        halves=split_half(cube, splits=splits, seed=seed),
        items=items,
    )


def rank_probability(cube: Cube, *, draws: int, seed: int) -> Floats:
    """Return how often each model has each rank in bootstrap samples of the items.

    Returns
    -------
    ndarray of float, shape (model, rank)
        At the reference configuration; equals share the best of their places.
    """
    models = len(cube.right)
    counts = np.zeros((models, models), np.int64)
    at_reference = cube.right[:, :, cube.reference].T
    for means in bootstrap_mean_blocks(
        at_reference, draws=draws, seed=seed, clusters=cube.clusters
    ):
        ranks = rankdata(-means, method="min", axis=1).astype(np.intp) - 1
        for m in range(models):
            counts[m] += np.bincount(ranks[:, m], minlength=models)
    return counts / draws


def rank_probability_table(finding: RankUncertaintyFinding) -> pd.DataFrame:
    """Return one row for each model and possible rank.

    Columns: benchmark, model, rank, probability, observed_rank, low, high, n.
    """
    m, r = np.nonzero(finding.probability)
    return pd.DataFrame(
        {
            "benchmark": finding.benchmark,
            "model": [finding.models[k] for k in m],
            "rank": r + 1,
            "probability": finding.probability[m, r],
            "observed_rank": finding.rank[m],
            "low": finding.low[m],
            "high": finding.high[m],
            "n": finding.items,
        }
    )


@dataclass(frozen=True)
class LeaveOutFinding(Finding):
    """What the pooled leaderboard says with one benchmark less.

    Attributes
    ----------
    left_out : tuple of str
        The benchmark that each entry does without; the first is "", everything.
    items : ndarray of int, shape (entry,)
    leader : tuple of str
        First at the reference; equals are joined.
    champions : ndarray of int, shape (entry,)
        Models that lead, alone or with equals, under at least one configuration.
    lowest_tau : ndarray of float, shape (entry,)
        Of all pairs of configurations.
    tau_with_all : ndarray of float, shape (entry,)
        Between the reference rankings with and without the benchmark.
    """

    name: ClassVar[str] = "leave_one_benchmark_out"
    left_out: tuple[str, ...]
    items: Ints
    leader: tuple[str, ...]
    champions: Ints
    lowest_tau: Floats
    tau_with_all: Floats

    @property
    def reading(self) -> str:
        """Whether one benchmark decides who leads."""
        if len(self.left_out) < 3:
            return "Nothing can be left out: there is one benchmark only."
        changed = [
            name
            for name, leader in zip(self.left_out[1:], self.leader[1:], strict=True)
            if leader != self.leader[0]
        ]
        who = f"without {listed(changed)}" if changed else "whichever benchmark is left out"
        verb = "changes" if changed else "stays the same"
        return (
            f"The leader of {count(int(self.items[0]), 'item')}, {self.leader[0]}, {verb} {who}; "
            f"the ranking without one benchmark agrees with the whole at a tau of at least "
            f"{_lowest(self.tau_with_all[1:]):.2f}, and the lowest tau between two "
            f"configurations is {self.lowest_tau[0]:.2f} with all benchmarks and "
            f"{_lowest(self.lowest_tau[1:]):.2f} to {-_lowest(-self.lowest_tau[1:]):.2f} "
            "with one less."
        )


def leave_one_benchmark_out(correctness: Correctness) -> LeaveOutFinding:
    """Rank again without each benchmark in turn."""
    scopes = [correctness.scope(POOLED)]
    for name in correctness.benchmarks if len(correctness.benchmarks) > 1 else ():
        scopes.append(Scope(name, correctness.benchmark_of != name))
    rankings = [ranking(correctness, scope) for scope in scopes]
    whole = rankings[0]
    key = correctness.reference_configuration.key
    leaders, taus = [], []
    for found in rankings:
        at = found.configurations.index(key)
        first = (m for m, r in zip(found.models, found.ranks[:, at], strict=True) if r == 1)
        leaders.append(" = ".join(first))
        taus.append(_tau(whole, found, key))
    lowest = [_lowest(found.agreement()) for found in rankings]
    return LeaveOutFinding(
        benchmark=POOLED,
        left_out=("", *(scope.benchmark for scope in scopes[1:])),
        items=np.array([found.items for found in rankings]),
        leader=tuple(leaders),
        champions=np.array([len(found.champions()) for found in rankings]),
        lowest_tau=np.array(lowest),
        tau_with_all=np.array(taus),
    )


def _tau(whole: Ranking, part: Ranking, key: str) -> float:
    """Return tau-b between two rankings at one configuration, over the models in both."""
    shared = [m for m in whole.models if m in part.models]
    if len(shared) < 2:
        return float("nan")
    scores = [
        found.accuracy[[found.models.index(m) for m in shared], found.configurations.index(key)]
        for found in (whole, part)
    ]
    return float("nan") if np.isnan(scores).any() else float(kendall_matrix(scores)[0, 1])


def _lowest(tau: Floats) -> float:
    known = tau[~np.isnan(tau)]
    return float(known.min()) if known.size else float("nan")
