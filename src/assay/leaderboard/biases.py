"""Preferences for a label, beside the spread that an unbiased model gives."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.core.identity import digest
from assay.leaderboard.correctness import Bools, Correctness, Scope
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, points
from assay.records.schema import STATUSES
from assay.stats.multiplicity import adjust_p

Floats = NDArray[np.float64]

_PARSED = STATUSES.index("ok")


@dataclass(frozen=True)
class LabelBias(Finding):
    """Spread of the recalls of the labels, by model and generation format.

    Attributes
    ----------
    models, formats : tuple of str
    labels : int
        Positions at which a right option was shown.
    items : ndarray of int, shape (model, format)
        With a usable answer in some order of the format.
    rstd : ndarray of float, same shape
        Population standard deviation over labels of the accuracy among usable answers whose right
        option had the label; 0 for a model without any preference.
    unbiased : ndarray of float, same shape
        What it is on average, with these items, for a model whose outcomes do not depend on the
        label: not 0, because recalls vary by chance.
    p_value, p_adjusted : ndarray of float, same shape
        That outcomes do not depend on the label; adjusted over models and formats (Holm).
    alpha : float
    """

    name: ClassVar[str] = "label_bias"
    models: tuple[str, ...]
    formats: tuple[str, ...]
    labels: int
    items: NDArray[np.int64]
    rstd: Floats
    unbiased: Floats
    p_value: Floats
    p_adjusted: Floats
    alpha: float

    @property
    def reading(self) -> str:
        """The largest spread, what chance gives there, and how many spreads exceed chance."""
        if np.isnan(self.rstd).all():
            return (
                "Label bias is unknown: no right option was shown under two labels with usable "
                "answers."
            )
        m, f = np.unravel_index(int(np.nanargmax(self.rstd)), self.rstd.shape)
        found = int(np.sum(self.p_adjusted <= self.alpha))
        tested = int(np.sum(~np.isnan(self.p_value)))
        return (
            f"The accuracy of {self.models[m]} under {self.formats[f]} spreads most over labels, "
            f"by {points(self.rstd[m, f])} points (RStd, {count(int(self.items[m, f]), 'item')}), "
            f"where an unbiased model gives {points(self.unbiased[m, f])}; {found} of "
            f"{count(tested, 'pair')} of a model and a format spread more than chance (corrected "
            "over all of them)."
        )


def label_bias(
    correctness: Correctness, scope: Scope, *, alpha: float = 0.05, draws: int = 1_000, seed: int
) -> LabelBias:
    """Return RStd of every model and generation format beside its value without bias.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    alpha : float
    draws : int
        Permutations behind `unbiased` and the p-values.
    seed : int

    Returns
    -------
    LabelBias

    Raises
    ------
    AnalysisError
        If alpha or draws are out of range.

    Notes
    -----
    Null: the places of the right option (one an order) are exchanged between items. An item's
    outcomes stay together, so that several orders of one item are not taken for independent
    evidence; nothing else ties them to a label. For one order, 300 items, four labels and an
    accuracy of .7 this gives 4.2 points. The permutation takes items as exchangeable: where
    questions with the right option at one place are harder, it finds that too.

    References
    ----------
    Zheng et al. (2024), ICLR, arXiv:2309.03882.
    """
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
    if draws < 1:
        raise AnalysisError(f"the value without bias needs at least one draw, not {draws}.")
    models, offered = correctness.ranked(scope), correctness.offered(scope)
    ways = [(int(c), correctness.configurations[c]) for c in offered]
    formats = sorted({way.format for _, way in ways if way.scoring == "gen"})
    shape = (models.size, len(formats))
    cells, labels = np.full((*shape, 4), np.nan), 0
    for (k, m), (f, form) in itertools.product(enumerate(models), enumerate(formats)):
        along = np.array([c for c, way in ways if (way.scoring, way.format) == ("gen", form)])
        usable = _usable(correctness, scope, m, along)
        items = usable.any(axis=1)
        slots = correctness.gold_slots[np.ix_(items, along)]
        right = correctness.right[m][np.ix_(items, along)]
        rng = np.random.default_rng([seed, int(digest(["label_bias", form])[:8], 16)])
        cells[k, f] = (items.sum(), *_against_chance(right, usable[items], slots, draws, rng))
        labels = max(labels, np.unique(slots).size)
    p_value = cells[..., 3]
    return LabelBias(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[m] for m in models),
        formats=tuple(formats),
        labels=labels,
        items=cells[..., 0].astype(np.int64),
        rstd=cells[..., 1],
        unbiased=cells[..., 2],
        p_value=p_value,
        p_adjusted=adjust_p(p_value.ravel(), method="holm").p_values.reshape(shape),
        alpha=alpha,
    )


def _usable(correctness: Correctness, scope: Scope, m: int, along: NDArray[np.intp]) -> Bools:
    """Return the usable answers, shape (item, order); of the most common number of options."""
    parsed = correctness.present[m][:, along] & (correctness.statuses[m][:, along] == _PARSED)
    # Every order shows a label: an item that some order does not fit cannot be exchanged.
    shown = scope.items & (correctness.gold_slots[:, along] >= 0).all(axis=1)
    options = np.array([item.options for item in correctness.items])
    if shown.any():
        shown &= options == np.bincount(options[shown]).argmax()
    return np.asarray(parsed & shown[:, None], bool)


def _against_chance(
    right: Bools, usable: Bools, slots: NDArray[np.int8], draws: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return RStd, its mean over permutations, and the p-value."""
    member = (slots[:, :, None] == np.unique(slots)).astype(np.float32)
    if member.shape[2] < 2:
        return math.nan, math.nan, math.nan
    outcome = np.stack([right & usable, usable]).astype(np.float32)
    value = _rstd(outcome, member)
    orders = (rng.permutation(len(slots)) for _ in range(draws))
    permuted = np.array([_rstd(outcome[:, order], member) for order in orders])
    permuted = permuted[~np.isnan(permuted)]
    if math.isnan(value) or not permuted.size:
        return value, math.nan, math.nan
    extreme = int(np.sum(permuted >= value - 1e-12))
    return value, float(permuted.mean()), (1 + extreme) / (1 + permuted.size)


def _rstd(outcome: NDArray[np.float32], member: NDArray[np.float32]) -> float:
    """Return the spread of the recalls; NaN where a label has no usable answer.

    `outcome` holds right and usable, shape (2, item, order); `member` the label of each right
    option, one-hot.
    """
    # Whole numbers below 2**24: exact in any order of addition.
    hits, total = outcome.reshape(2, -1) @ member.reshape(-1, member.shape[2])
    recall = hits / np.where(total > 0, total, np.nan)
    return float(np.std(recall, dtype=float))


def label_bias_table(found: LabelBias) -> pd.DataFrame:
    """Return one row for each model and generation format.

    Columns: model, benchmark, format (text), n (whole; items), rstd, unbiased, p_value, p_adjusted
    (real).
    """
    m, f = (axis.ravel() for axis in np.indices(found.rstd.shape))
    return pd.DataFrame(
        {
            "model": np.array(found.models, object)[m],
            "benchmark": found.benchmark,
            "format": np.array(found.formats, object)[f],
            "n": found.items[m, f],
            "rstd": found.rstd[m, f],
            "unbiased": found.unbiased[m, f],
            "p_value": found.p_value[m, f],
            "p_adjusted": found.p_adjusted[m, f],
        }
    )
