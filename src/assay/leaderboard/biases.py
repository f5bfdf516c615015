"""Preferences for a label, beside the spread that an unbiased model gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Bools, Correctness, Scope
from assay.leaderboard.finding import Finding, stream
from assay.leaderboard.wording import count, points
from assay.records.schema import STATUSES
from assay.stats.multiplicity import adjust_p

Floats = NDArray[np.float64]

_PARSED = STATUSES.index("ok")
#: Models, and permutations, that are computed together; neither changes a number.
_MODELS, _BLOCK = 64, 32


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
    draws : int
        Permutations: no corrected p-value is below the number of pairs over ``draws + 1``.
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
    draws: int
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
        attainable = tested / (self.draws + 1) <= self.alpha
        limit = "" if attainable else f"; {self.draws:,} permutations cannot show it for so many"
        return (
            f"The accuracy of {self.models[m]} under {self.formats[f]} spreads most over labels, "
            f"by {points(self.rstd[m, f])} points (RStd, {count(int(self.items[m, f]), 'item')}), "
            f"where an unbiased model gives {points(self.unbiased[m, f])}; {found} of "
            f"{count(tested, 'pair')} of a model and a format spread more than chance (corrected "
            f"over all of them{limit})."
        )


def label_bias(
    correctness: Correctness, scope: Scope, *, alpha: float = 0.05, draws: int = 2_000, seed: int
) -> LabelBias:
    """Return RStd of every model and generation format beside its value without bias.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
        Items with another number of options than most are left out.
    alpha : float
    draws : int
        Permutations behind `unbiased` and the p-values. With fewer than the number of models and
        formats divided by alpha no adjusted p-value can reach alpha.
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
    ways = {int(c): correctness.configurations[c] for c in offered}
    formats = sorted({way.format for way in ways.values() if way.scoring == "gen"})
    cells, labels = np.full((4, models.size, len(formats)), np.nan), 0
    for f, form in enumerate(formats):
        along = [c for c, way in ways.items() if (way.scoring, way.format) == ("gen", form)]
        answers = _answers(correctness, scope, along)
        labels = max(labels, answers.member.shape[2])
        cells[:, :, f] = _against_chance(
            answers, draws, [seed, stream("label_bias", scope.benchmark, form)]
        )
    p_value = cells[3]
    return LabelBias(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[m] for m in models),
        formats=tuple(formats),
        labels=labels,
        items=cells[0].astype(np.int64),
        rstd=cells[1],
        unbiased=cells[2],
        p_value=p_value,
        p_adjusted=adjust_p(p_value.ravel(), method="holm").p_values.reshape(p_value.shape),
        draws=draws,
        alpha=alpha,
    )


@dataclass(frozen=True)
class _Answers:
    """The answers to one format.

    Attributes
    ----------
    right, usable : ndarray of bool, shape (model, item, order)
    pattern : ndarray of int, shape (item,)
        Which of the patterns of `member` the item has.
    member : ndarray of float32, shape (pattern, order, label)
        One-hot: the label of the right option in each order.
    """

    right: Bools
    usable: Bools
    pattern: NDArray[np.intp]
    member: NDArray[np.float32]


def _answers(correctness: Correctness, scope: Scope, along: list[int]) -> _Answers:
    slots = correctness.gold_slots[:, along]
    # An item that some order does not fit shows fewer labels, and cannot be exchanged.
    shown = scope.items & (slots >= 0).all(axis=1)
    options = np.array([item.options for item in correctness.items])
    if shown.any():
        shown &= options == np.bincount(options[shown]).argmax()
    models = correctness.ranked(scope)
    present, statuses, right = (
        cells[models][:, shown][:, :, along]
        for cells in (correctness.present, correctness.statuses, correctness.right)
    )
    patterns, pattern = np.unique(slots[shown], axis=0, return_inverse=True)
    seen = np.flatnonzero(np.bincount(patterns.ravel()))
    member = (patterns[:, :, None] == seen).astype(np.float32)
    usable = present & (statuses == _PARSED)
    return _Answers(right & usable, usable, pattern.ravel(), member)


def _against_chance(answers: _Answers, draws: int, key: list[int]) -> Floats:
    """Return items, RStd, its mean over permutations and the p-value, shape (4, model)."""
    found = np.full((4, len(answers.right)), np.nan)
    found[0] = answers.usable.any(axis=2).sum(axis=1)
    if answers.member.shape[2] < 2:
        return found
    shuffled = _shuffled(answers.pattern, draws, np.random.default_rng(key))
    for start in range(0, len(answers.right), _MODELS):
        some = slice(start, start + _MODELS)
        outcome = np.stack([answers.right[some], answers.usable[some]]).astype(np.float32)
        sums = np.einsum("smio,qok->iqsmk", outcome, answers.member, optimize=True)
        value = _rstd(sums, answers.pattern[None])[0]
        drawn = np.concatenate(
            [_rstd(sums, shuffled[n : n + _BLOCK]) for n in range(0, draws, _BLOCK)]
        )
        # A label without usable answers has no recall, in the data or in a permutation.
        known = ~np.isnan(drawn)
        extreme = (drawn >= value - 1e-12).sum(axis=0)
        total = known.sum(axis=0)
        mean = np.where(known, drawn, 0).sum(axis=0) / np.where(total > 0, total, np.nan)
        p_value = np.where(np.isnan(value), np.nan, (1 + extreme) / (1 + total))
        found[1:, some] = value, mean, p_value
    return found


def _shuffled(
    pattern: NDArray[np.intp], draws: int, rng: np.random.Generator
) -> NDArray[np.uint8 | np.uint16]:
    """Return permutations of the patterns, shape (draw, item); the same for every model."""
    small = pattern.astype(np.uint8 if pattern.max(initial=0) < 256 else np.uint16)
    return rng.permuted(np.tile(small, (draws, 1)), axis=1)


def _rstd(sums: NDArray[np.float32], pattern: NDArray[np.integer[Any]]) -> Floats:
    """Return the spread of the recalls, shape (draw, model); NaN where a label has no answer.

    `sums` has shape (item, pattern, right or usable, model, label): what the item would add under
    each pattern; `pattern` has shape (draw, item).
    """
    items, patterns, *shape = sums.shape
    chosen = (pattern[:, :, None] == np.arange(patterns)).astype(np.float32)
    # Whole numbers below 2**24: exact in any order of addition.
    totals = chosen.reshape(len(pattern), -1) @ sums.reshape(items * patterns, -1)
    hits, usable = np.moveaxis(totals.reshape(-1, *shape).astype(float), 1, 0)
    recall = hits / np.where(usable > 0, usable, np.nan)
    return np.asarray(np.std(recall, axis=2), float)


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
