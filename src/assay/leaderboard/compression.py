"""Whether a few well-chosen items rank models as all items do, judged on other models.

A subset that was chosen by the outcomes of some models ranks those models well by construction.
So each family of models is held out in turn: items are chosen by the outcomes of the other
families at the reference configuration, and judged by how they rank pairs with a held-out model
under the other configurations. The truth is the ranking by the items that were not chosen, so that
no item is on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Bools, Correctness, Scope
from assay.leaderboard.cube import Cube
from assay.leaderboard.finding import Finding
from assay.leaderboard.item_rest import point_biserial
from assay.leaderboard.items import ItemClasses
from assay.leaderboard.model_families import family_codes
from assay.leaderboard.subsets import RULES, RankingRecord, choose, judge_subsets, tied_places
from assay.leaderboard.wording import count, percent, points

Floats = NDArray[np.float64]

METHOD = (
    "items chosen without one family of models, judged on pairs with that family under the "
    "configurations other than the reference; truth from the items not chosen"
)
_REFERENCE = "Perlitz et al. (2024), Efficient Benchmarking, arXiv:2308.11696"
FEWEST_MODELS, FEWEST_LEFT, SPARE_ITEMS = 3, 2, 5
#: Of more families, or models where there is one family, several are held out together.
_MOST_FOLDS = 25
#: Sets this module's random numbers apart from others of the same seed.
_STREAM = 41


@dataclass(frozen=True)
class CompressionFinding(Finding):
    """How well k chosen items rank models that had no part in the choice. Descriptive.

    Attributes
    ----------
    rules : tuple of str
        How the items were chosen; the attributes with shape (rule,) are in this order.
    share_right : ndarray of float, shape (rule,)
        Share of held-out pairs ranked right; equals on the chosen items are right half the time.
    smallest_gap : ndarray of float, shape (rule,)
        Smallest gap that is ranked right 80 % of the time; NaN where no gap is.
    fragility : ndarray of float, shape (rule,)
        Mean fragility of items chosen with all models.
    champions : ndarray of float, shape (rule,)
        Models that lead under at least one configuration on items chosen with all models, mean
        over repeats.
    all_fragility, all_champions : float
        The same two over all items.
    unique_items, tied_items : int
        Of the most discriminating, those chosen whatever the tie-break, and those that compete,
        as equals, for the remaining k - `unique_items` places.
    k, items, models, families, folds, configurations, repeats : int
        Items chosen and at hand; folds that left at least two models to choose by; held-out
        configurations.
    by_family : bool
        Whether folds are families; with one family only, they are single models.
    problem : str
        Why nothing was computed, or "".
    method, reference : str
    """

    name: ClassVar[str] = "compression"
    rules: tuple[str, ...]
    share_right: Floats
    smallest_gap: Floats
    fragility: Floats
    champions: Floats
    all_fragility: float
    all_champions: float
    unique_items: int
    tied_items: int
    k: int
    items: int
    models: int
    families: int
    folds: int
    configurations: int
    repeats: int
    by_family: bool
    problem: str = ""
    method: str = METHOD
    reference: str = _REFERENCE

    @property
    def reading(self) -> str:
        """How small a gap the chosen items still get right, beside chance choices."""
        if self.problem:
            return f"Whether {count(self.k, 'item')} could stand for all is unknown: {self.problem}"
        kind = ("family of models", "families of models") if self.by_family else ("model", "models")
        parts = [
            f"{rule} ones rank {percent(right)} of pairs right ({_gap(gap)})"
            for rule, right, gap in zip(
                self.rules, self.share_right, self.smallest_gap, strict=True
            )
        ]
        return (
            f"If {self.k} of {count(self.items, 'item')} are chosen without the models they are to "
            f"rank ({count(self.folds, *kind)} held out in turn, "
            f"{count(self.configurations, 'configuration')}), {'; '.join(parts)}; with "
            f"{count(self.models, 'model')} this describes and does not test."
        )


def _gap(gap: float) -> str:
    if np.isnan(gap):
        return "no gap is right 80 % of the time"
    return f"80 % right from gaps of {points(gap)} points"


def compression(
    correctness: Correctness,
    scope: Scope,
    *,
    k: int = 100,
    repeats: int = 20,
    families: Mapping[str, str] | None = None,
    seed: int = 0,
) -> CompressionFinding:
    """Judge subsets of k items on models and configurations that had no part in the choice.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
        Items that every model answered under every configuration are used.
    k : int
        Items to choose.
    repeats : int
        Choices by each rule and fold: they differ in how equals are ordered, or in all items.
    families : mapping of str to str, optional
        Model → family, where the name does not tell.
    seed : int

    Returns
    -------
    CompressionFinding
        NaN with fewer than three models, fewer than k + 5 complete items, or no fold that leaves
        two models to choose by.

    Raises
    ------
    AnalysisError
        If `k` or `repeats` is less than one.
    """
    if k < 1 or repeats < 1:
        raise AnalysisError(f"{k} items chosen {repeats} times is no choice.")
    cube = Cube.of(correctness, scope)
    design = _Design.of(correctness, cube, families)
    problem = _problem(cube, design, k)
    if problem:
        return _finding(scope, cube, design, k, repeats, {}, problem)
    numbers: dict[str, list[float]] = {"right": [], "gap": [], "fragility": [], "champions": []}
    fragility = ItemClasses.of(np.ones_like(cube.right), cube.right).fragile.mean(axis=0)
    for number, rule in enumerate(RULES):
        rng = np.random.default_rng([seed, _STREAM, number])
        record = RankingRecord.empty()
        folds = []
        for fold in design.folds:
            # Only the outcomes of the models that stay decide which items are chosen.
            seen = cube.right[~fold, :, cube.reference]
            chosen = choose(rule, seen, design.strata, k=k, repeats=repeats, rng=rng)
            folds.append((chosen, fold))
        judge_subsets(record, folds, (cube.right[:, :, c] for c in design.under))
        chosen = choose(rule, design.at_reference, design.strata, k=k, repeats=repeats, rng=rng)
        numbers["right"].append(record.share_right)
        numbers["gap"].append(record.smallest_gap)
        numbers["fragility"].append(float(np.mean([fragility[row].mean() for row in chosen])))
        numbers["champions"].append(_champions(cube, chosen))
    numbers["all"] = [float(fragility.mean()), _champions(cube, np.ones((1, fragility.size), bool))]
    return _finding(scope, cube, design, k, repeats, numbers, "")


def compression_table(finding: CompressionFinding) -> pd.DataFrame:
    """Return one row for each rule.

    Columns: benchmark, rule, k, n, share_right, smallest_gap, fragility, champions.
    """
    return pd.DataFrame(
        {
            "benchmark": finding.benchmark,
            "rule": finding.rules,
            "k": finding.k,
            "n": finding.items,
            "share_right": finding.share_right,
            "smallest_gap": finding.smallest_gap,
            "fragility": finding.fragility,
            "champions": finding.champions,
        }
    )


@dataclass(frozen=True)
class _Design:
    """What is held out.

    Attributes
    ----------
    folds : tuple of ndarray of bool, shape (model,)
        The models held out together, at most 25 sets of them.
    under : ndarray of int
        Configurations to judge under, within the cube.
    strata : ndarray of int, shape (item,)
    at_reference : ndarray of bool, shape (model, item)
    families : int
    """

    folds: tuple[Bools, ...]
    under: NDArray[np.intp]
    strata: NDArray[np.intp]
    at_reference: Bools
    families: int

    @classmethod
    def of(
        cls, correctness: Correctness, cube: Cube, families: Mapping[str, str] | None
    ) -> _Design:
        names, codes = family_codes([correctness.models[m] for m in cube.models], families)
        groups = (codes if len(names) > 1 else np.arange(codes.size)) % _MOST_FOLDS
        folds = (groups == group for group in np.unique(groups))
        other = np.delete(np.arange(cube.configurations.size), cube.reference)
        return cls(
            folds=tuple(fold for fold in folds if (~fold).sum() >= FEWEST_LEFT),
            under=other if other.size else np.array([cube.reference]),
            strata=np.unique(correctness.benchmark_of[cube.items], return_inverse=True)[1],
            at_reference=cube.right[:, :, cube.reference],
            families=len(names),
        )


def _problem(cube: Cube, design: _Design, k: int) -> str:
    models, items, _ = cube.right.shape
    if models < FEWEST_MODELS:
        return f"it takes {FEWEST_MODELS} models, and there are {models}."
    if items < k + SPARE_ITEMS:
        return f"it takes {k + SPARE_ITEMS} items, and {items} are complete."
    if not design.folds:
        return f"no family can be held out and leave {FEWEST_LEFT} models to choose by."
    return ""


def _champions(cube: Cube, chosen: Bools) -> float:
    """Return the mean number of models that lead somewhere on the chosen items."""
    counts = []
    for row in chosen:
        score = cube.right[:, row].sum(axis=1)
        counts.append((rankdata(-score, method="min", axis=0) == 1).any(axis=1).sum())
    return float(np.mean(counts))


def _finding(
    scope: Scope,
    cube: Cube,
    design: _Design,
    k: int,
    repeats: int,
    numbers: Mapping[str, list[float]],
    problem: str,
) -> CompressionFinding:
    unknown = [float("nan")] * len(RULES)
    unique, tied = (0, 0) if problem else tied_places(point_biserial(design.at_reference), k)
    models, items, _ = cube.right.shape
    whole = numbers.get("all", unknown)
    return CompressionFinding(
        benchmark=scope.benchmark,
        rules=RULES,
        share_right=np.array(numbers.get("right", unknown)),
        smallest_gap=np.array(numbers.get("gap", unknown)),
        fragility=np.array(numbers.get("fragility", unknown)),
        champions=np.array(numbers.get("champions", unknown)),
        all_fragility=whole[0],
        all_champions=whole[1],
        unique_items=unique,
        tied_items=tied,
        k=k,
        items=items,
        models=models,
        families=design.families,
        folds=len(design.folds),
        configurations=design.under.size,
        repeats=repeats,
        by_family=design.families > 1,
        problem=problem,
    )
