"""What a part of the grid tells of all of it, with the error that it would have had here.

The distribution of accuracy over all configurations is estimated from a budgeted part of the
(item, configuration) cells. On data where every cell is known the error is measured, not
assumed: cells are masked, the distribution is estimated from the rest and compared with the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.borrowing import borrow
from assay.leaderboard.correctness import Bools, Correctness, Scope, family
from assay.leaderboard.cube import Cube
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, points

Floats = NDArray[np.float64]

METHOD = "Rasch borrowing from a balanced part of the grid; error by masking complete data"
_REFERENCE = "Polo et al. (2024), PromptEval, arXiv:2405.17202"
#: Of the distribution over configurations.
QUANTILES = (0.05, 0.5, 0.95)
BUDGETS = (0.05, 0.1, 0.2, 0.5)
#: Models whose cells are masked: enough to average over, and a borrowed estimate takes time.
_MOST_MODELS = 24
#: Sets this module's random numbers apart from others of the same seed.
_STREAM = 47


@dataclass(frozen=True)
class PartialGridFinding(Finding):
    """The error of estimates from a part of the grid, measured on complete data.

    Attributes
    ----------
    budgets : tuple of float
        Shares of the cells that were kept; the attributes of shape (budget, ...) are in this
        order.
    quantiles : tuple of float
    error : ndarray of float, shape (budget, quantile)
        Mean absolute error of the quantiles of accuracy over configurations, over models and
        repeats.
    naive_error : ndarray of float, same shape
        The same for plain means of the answers kept.
    worst : ndarray of float, shape (budget,)
        Largest error of any quantile, any model, any repeat.
    rmse, naive_rmse : ndarray of float, shape (budget,)
        Root mean squared error of a single configuration's accuracy.
    items, models, configurations, repeats : int
        Of them; `models` were masked.
    method, reference : str
    """

    name: ClassVar[str] = "partial_grid"
    budgets: tuple[float, ...]
    quantiles: tuple[float, ...]
    error: Floats
    naive_error: Floats
    worst: Floats
    rmse: Floats
    naive_rmse: Floats
    items: int
    models: int
    configurations: int
    repeats: int
    method: str = METHOD
    reference: str = _REFERENCE

    @property
    def reading(self) -> str:
        """How well a small part of the grid would have done."""
        if np.isnan(self.rmse).all():
            return (
                "What a part of the grid would tell is unknown: it takes two configurations and "
                f"as many complete items, and there are {self.configurations} and {self.items}."
            )
        k = int(np.argmax(~np.isnan(self.rmse)))
        ends = [self.quantiles.index(q) for q in (min(self.quantiles), max(self.quantiles))]
        low, high = (self.error[k, q] for q in ends)
        naive = max(self.naive_error[k, q] for q in ends)
        return (
            f"With {100 * self.budgets[k]:g} % of the cells of {count(self.items, 'item')} and "
            f"{self.configurations} configurations, the {100 * min(self.quantiles):g} % and "
            f"{100 * max(self.quantiles):g} % quantiles of accuracy over configurations would have "
            f"been off by {points(low)} and {points(high)} points on average over "
            f"{count(self.models, 'model')} (at worst {points(self.worst[k])}), where plain means "
            f"of the same answers are off by up to {points(naive)}."
        )


def partial_grid(
    correctness: Correctness,
    scope: Scope,
    *,
    budgets: Sequence[float] = BUDGETS,
    quantiles: Sequence[float] = QUANTILES,
    repeats: int = 3,
    seed: int = 0,
) -> PartialGridFinding:
    """Measure what a part of the grid would have told.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
        Items that every model answered under every configuration are masked.
    budgets : sequence of float
        Shares of the cells to keep, each above 0 and at most 1.
    quantiles : sequence of float
    repeats : int
        Masks for each budget. All models get the same cells. Of more than 24 models, every n-th
        by accuracy is masked.
    seed : int

    Returns
    -------
    PartialGridFinding
        NaN with one configuration, or fewer items than configurations.

    Raises
    ------
    AnalysisError
        If a budget is out of range.
    """
    cube = Cube.of(correctness, scope)
    right = _some(cube.right)
    models, items, ways = right.shape
    errors = np.full((len(budgets), 2, len(quantiles)), np.nan)
    worst, rmse = np.full(len(budgets), np.nan), np.full((len(budgets), 2), np.nan)
    if ways > 1 and items >= ways and models:
        strata = np.unique(correctness.benchmark_of[cube.items], return_inverse=True)[1]
        chosen = [correctness.configurations[k] for k in cube.configurations]
        families = np.unique([family(way) for way in chosen], return_inverse=True)[1]
        for b, budget in enumerate(budgets):
            off = _masked(right, families, strata, budget, quantiles, repeats, [seed, b])
            errors[b] = np.abs(off.quantiles).mean(axis=0)
            worst[b] = np.abs(off.quantiles[:, 0]).max()
            rmse[b] = np.sqrt(off.squares.mean(axis=0))
    return PartialGridFinding(
        benchmark=scope.benchmark,
        budgets=tuple(budgets),
        quantiles=tuple(quantiles),
        error=errors[:, 0],
        naive_error=errors[:, 1],
        worst=worst,
        rmse=rmse[:, 0],
        naive_rmse=rmse[:, 1],
        items=items,
        models=models,
        configurations=ways,
        repeats=repeats,
    )


def partial_grid_table(finding: PartialGridFinding) -> pd.DataFrame:
    """Return one row for each budget and quantile.

    Columns: benchmark, budget, quantile, error, naive_error, rmse, naive_rmse, n.
    """
    b, q = (axis.ravel() for axis in np.indices(finding.error.shape))
    return pd.DataFrame(
        {
            "benchmark": finding.benchmark,
            "budget": np.array(finding.budgets)[b],
            "quantile": np.array(finding.quantiles)[q],
            "error": finding.error[b, q],
            "naive_error": finding.naive_error[b, q],
            "rmse": finding.rmse[b],
            "naive_rmse": finding.naive_rmse[b],
            "n": finding.items,
        }
    )


def _some(right: Bools) -> Bools:
    models = len(right)
    if models <= _MOST_MODELS:
        return right
    order = np.argsort(-right.sum(axis=(1, 2)), kind="stable")
    places = np.linspace(0, models - 1, _MOST_MODELS).round().astype(np.intp)
    return right[np.sort(order[places])]


@dataclass(frozen=True)
class _Off:
    """Errors of the borrowed and the naive estimate, over models and repeats.

    `quantiles` has shape (run, 2, quantile), `squares` (run, 2): mean squares over configurations.
    """

    quantiles: Floats
    squares: Floats


def _masked(
    right: Bools,
    families: NDArray[np.intp],
    strata: NDArray[np.intp],
    budget: float,
    quantiles: Sequence[float],
    repeats: int,
    seeds: Sequence[int],
) -> _Off:
    off, squares = [], []
    for repeat in range(repeats):
        asked = mask(right.shape[1:], budget=budget, strata=strata, seed=[*seeds, repeat])
        for answers in right:
            truth = answers.mean(axis=0)
            found = borrow(answers, asked, families)
            both = np.stack([found.accuracy, found.naive])
            target = np.quantile(truth, quantiles)
            off.append([np.quantile(x[~np.isnan(x)], quantiles) - target for x in both])
            squares.append(np.nanmean((both - truth) ** 2, axis=1))
    return _Off(np.array(off), np.array(squares))


def mask(
    shape: tuple[int, ...],
    *,
    budget: float,
    strata: NDArray[np.intp] | None = None,
    seed: int | Sequence[int],
) -> Bools:
    """Choose which configurations each item is asked under.

    Parameters
    ----------
    shape : tuple of int
        Items and configurations.
    budget : float
        Share of the cells to ask, above 0 and at most 1.
    strata : ndarray of int, shape (item,), optional
        Such as benchmarks: each is spread over the configurations by itself.
    seed : int or sequence of int

    Returns
    -------
    ndarray of bool, shape (item, configuration)
        Every item is asked under the same number of configurations, or one more; every
        configuration gets nearly the same number of items.

    Raises
    ------
    AnalysisError
        If the budget is out of range.

    Examples
    --------
    >>> asked = mask((8, 4), budget=0.5, seed=1)
    >>> asked.sum(axis=0).tolist(), set(asked.sum(axis=1).tolist())
    ([4, 4, 4, 4], {2})
    """
    if not 0 < budget <= 1:
        raise AnalysisError(f"a budget of {budget} of the cells; it is above 0 and at most 1.")
    items, ways = shape
    rng = np.random.default_rng([_STREAM, *np.atleast_1d(seed)])
    groups = np.zeros(items, np.intp) if strata is None else strata
    order = np.lexsort((rng.random(items), groups))
    # A run of cells is dealt to the items in turn; each run of `ways` cells is a permutation of
    # the configurations, so that none is ahead of another by more than one.
    cells = max(round(budget * items * ways), 1)
    sizes = np.full(items, cells // items)
    sizes[rng.permutation(items)[: cells % items]] += 1
    asked = np.zeros((items, ways), bool)
    asked[np.repeat(order, sizes), _dealt(sizes, ways, rng)] = True
    return asked


def _dealt(sizes: NDArray[np.int64], ways: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Deal different configurations to each item in turn; shape (cell,).

    An item between two runs takes from the second first what it has not got from the first.
    """
    ends = np.cumsum(sizes)
    dealt = np.empty(-(-int(ends[-1]) // ways) * ways, np.intp)
    for start in range(0, dealt.size, ways):
        run = rng.permutation(ways)
        item = int(np.searchsorted(ends, start, side="right"))
        begun = start - (int(ends[item]) - int(sizes[item]))
        if 0 < begun:
            free = np.ones(ways, bool)
            free[dealt[start - begun : start]] = False
            first = free[run] & (np.cumsum(free[run]) <= int(sizes[item]) - begun)
            run = np.concatenate([run[first], run[~first]])
        dealt[start : start + ways] = run
    return dealt[: int(ends[-1])]
