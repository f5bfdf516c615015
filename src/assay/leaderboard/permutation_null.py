"""Headlines along one axis beside what they are when that axis means nothing.

The levels of one axis are exchanged at random within each item (or cluster of items), for all
models and all settings of the other axes alike. Whatever the models share (difficult items, the
other axes) stays; only the tie between a level and its outcomes goes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.finding import Finding, stream
from assay.leaderboard.permuted_axes import AXES, AxisCells, axis_cells
from assay.leaderboard.wording import count, points
from assay.stats import kendall_matrix

Axis = Literal["order", "format", "scoring", "family"]
Floats = NDArray[np.float64]

_BAND = (0.025, 0.975)
#: Numbers in the one-hot matrices of a block of draws, about.
_BLOCK = 2**23
#: Signs of differences between models in the tables of a block of draws, about.
_SIGNS = 2**21
#: Up to here all permutations are listed and drawn by number, which is faster than sorting.
_LISTED = 6
_NAMES = ("champions", "largest_move", "smallest_tau", "accuracy_range")
#: Agreement counts as extreme where it is small.
_SMALL_IS_EXTREME = ("smallest_tau",)


@dataclass(frozen=True, slots=True)
class PermutedHeadline:
    """A headline, its mean and central 95 % over permutations, and its p-value.

    The p-value is the share of permutations, the data among them, that are at least as extreme.
    """

    value: float
    null: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class PermutationNull(Finding):
    """Headlines over the levels of one axis.

    Attributes
    ----------
    axis : str
    levels : tuple of str
        Order: the position, as shown, of the right option. Format: the generation formats.
        Scoring: generation and likelihood. Family: the declared families.
    models : tuple of str
    items : int
        Observed for every model under every configuration.
    accuracy : ndarray of float, shape (model, level)
    headlines : dict of str to PermutedHeadline
        Models that lead at some level, alone or with equals; the widest range of ranks of one
        model; the smallest Kendall tau-b between two levels; the widest range of accuracy of one
        model.
    draws : int
    """

    name: ClassVar[str] = "permutation_null"
    axis: str
    levels: tuple[str, ...]
    models: tuple[str, ...]
    items: int
    accuracy: Floats
    headlines: dict[str, PermutedHeadline]
    draws: int

    @property
    def reading(self) -> str:
        """How far accuracy moves and who leads along the axis, beside shuffled levels."""
        if np.isnan(self.headlines["accuracy_range"].value):
            return f"What the {_TITLE[self.axis]} does is unknown: nothing varies along it."
        spread, lead = self.headlines["accuracy_range"], self.headlines["champions"]
        text = (
            f"Along the {_TITLE[self.axis]} ({len(self.levels)} levels, "
            f"{count(self.items, 'item')}), the accuracy of one model moves by up to "
            f"{points(spread.value)} points, where shuffled levels give {points(spread.low)} to "
            f"{points(spread.high)} (p {_p(spread.p_value)})"
        )
        if len(self.models) < 2:
            return f"{text}."
        return (
            f"{text}, and {lead.value:.0f} of {len(self.models)} models "
            f"{'lead' if lead.value != 1 else 'leads'} at some level, where they give "
            f"{lead.low:.0f} to {lead.high:.0f} (p {_p(lead.p_value)})."
        )


_TITLE = {
    "order": "position of the right option",
    "format": "format",
    "scoring": "scoring",
    "family": "family of configurations",
}


def _p(value: float) -> str:
    return f"= {value:.2g}" if value >= 0.001 else "< 0.001"


def permutation_null(
    correctness: Correctness, scope: Scope, *, axis: Axis, draws: int = 1_000, seed: int
) -> PermutationNull:
    """Compare headlines along `axis` with those after its levels are exchanged.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    axis : {"order", "format", "scoring", "family"}
    draws : int
        Number of permutations.
    seed : int
        Same seed and data, same numbers.

    Returns
    -------
    PermutationNull
        NaN where nothing varies along the axis, or no item was observed throughout.

    Raises
    ------
    AnalysisError
        If the axis is unknown or there are no draws.

    Notes
    -----
    An item's outcomes at one level go together over the other axes: what makes a model fail an
    item in one format does so in most orders. They are therefore exchanged together. Exchanging
    them order by order took that for independent evidence, and found an accuracy range of formats
    in 155 of 300 simulated leaderboards without any effect.

    A small p-value says that the levels of the axis are not exchangeable. It does not say that
    models react differently: an effect that all models share also makes accuracy range. Headlines
    that no exchange of levels can change (flips, robust and optimistic accuracy) have a twin
    instead (`assay.leaderboard.null_twin`).

    References
    ----------
    Phipson & Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39.
    """
    if axis not in AXES:
        raise AnalysisError(f"unknown axis '{axis}'.", fix=f"choose one of {', '.join(AXES)}.")
    if draws < 1:
        raise AnalysisError(f"a null band needs at least one draw, not {draws}.")
    cells = axis_cells(correctness, scope, axis)
    models = correctness.ranked(scope)
    known = cells.items > 0 and len(cells.levels) > 1 and models.size > 0
    if known:
        observed = _accuracy(cells, cells.labels[None])
        accuracy = observed[0]
        rng = np.random.default_rng([seed, stream("permutation_null", scope.benchmark, axis)])
        drawn = np.concatenate([_headlines(some) for some in _permuted(cells, draws, rng)])
        bands = {
            name: _band(name, value, column)
            for name, value, column in zip(
                _NAMES, _headlines(observed)[0].tolist(), drawn.T, strict=True
            )
        }
    else:
        accuracy = np.full((models.size, len(cells.levels)), np.nan)
        bands = dict.fromkeys(_NAMES, PermutedHeadline(*[math.nan] * 5))
    return PermutationNull(
        benchmark=scope.benchmark,
        axis=axis,
        levels=cells.levels,
        models=tuple(correctness.models[m] for m in models),
        items=cells.items,
        accuracy=accuracy,
        headlines=bands,
        draws=draws,
    )


def _permuted(cells: AxisCells, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield accuracies with the labels permuted, in blocks of shape (draw, model, level)."""
    block = max(1, _BLOCK // (cells.labels.size * len(cells.levels)))
    for start in range(0, draws, block):
        yield _accuracy(cells, _shuffled(cells, min(block, draws - start), rng))


def _shuffled(cells: AxisCells, draws: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Exchange the labels within each item, in the same way for all items of a cluster.

    Shape (draw, item, place). The size of a block changes no number.
    """
    groups, places = int(cells.clusters.max()) + 1, cells.labels.shape[1]
    if places <= _LISTED:
        table = np.array(list(itertools.permutations(range(places))), np.int8)
        chosen = table[rng.integers(len(table), size=(draws, groups))]
    else:
        chosen = rng.random((draws, groups, places)).argsort(axis=2).astype(np.int8)
    if groups < cells.items:
        chosen = chosen[:, cells.clusters]
    if (cells.labels == np.arange(places)).all():
        return chosen
    starts = np.arange(0, cells.labels.size, places)[:, None]
    return np.asarray(cells.labels.ravel()[starts + chosen], np.int8)


def _accuracy(cells: AxisCells, labels: NDArray[np.int8]) -> Floats:
    """Return the accuracy, shape (draw, model, level), for labels of shape (draw, item, place)."""
    draws, levels = len(labels), len(cells.levels)
    member = np.empty((draws, levels, cells.labels.size), cells.hits.dtype)
    np.equal(labels.reshape(draws, 1, -1), np.arange(levels, dtype=np.int8)[:, None], out=member)
    # Whole numbers: exact, in whatever order they are added.
    sums = member.reshape(draws * levels, -1) @ cells.hits.reshape(len(cells.hits), -1).T
    return np.moveaxis(sums.reshape(draws, levels, -1) / cells.totals[:, None], 1, 2)


def _headlines(accuracy: Floats) -> Floats:
    """Return the four headlines of each draw, shape (draw, headline)."""
    ranks = rankdata(-accuracy, method="min", axis=1)
    levels = accuracy.shape[2]
    models = accuracy.shape[1]
    step = max(1, _SIGNS // (levels * max(models * (models - 1) // 2, 1)))
    tau = [
        kendall_matrix(np.swapaxes(accuracy[k : k + step], 1, 2))
        for k in range(0, len(accuracy), step)
    ]
    pairs = np.concatenate(tau)[:, *np.triu_indices(levels, 1)]
    known = ~np.isnan(pairs)
    smallest = np.where(known, pairs, np.inf).min(axis=1)
    return np.stack(
        [
            (ranks == 1).any(axis=2).sum(axis=1),
            np.ptp(ranks, axis=2).max(axis=1),
            np.where(known.any(axis=1), smallest, np.nan),
            np.ptp(accuracy, axis=2).max(axis=1),
        ],
        axis=1,
    )


def _band(name: str, value: float, drawn: Floats) -> PermutedHeadline:
    known = drawn[~np.isnan(drawn)]
    if math.isnan(value) or not known.size:
        return PermutedHeadline(value, math.nan, math.nan, math.nan, math.nan)
    sign = -1 if name in _SMALL_IS_EXTREME else 1
    # Equal values differ by rounding where they are means of different numbers.
    extreme = int(np.sum(sign * known >= sign * value - 1e-12))
    low, high = (float(q) for q in np.quantile(known, _BAND))
    p_value = (1 + extreme) / (1 + known.size)
    return PermutedHeadline(value, float(known.mean()), low, high, p_value)


def permutation_table(found: PermutationNull) -> pd.DataFrame:
    """Return one row for each headline.

    Columns: benchmark, axis, headline (text), levels, n, draws (whole; n counts items), value,
    null, low, high, p_value (real).
    """
    rows = [
        {
            "benchmark": found.benchmark,
            "axis": found.axis,
            "headline": name,
            "levels": len(found.levels),
            "n": found.items,
            "draws": found.draws,
            "value": band.value,
            "null": band.null,
            "low": band.low,
            "high": band.high,
            "p_value": band.p_value,
        }
        for name, band in found.headlines.items()
    ]
    return pd.DataFrame(rows)
