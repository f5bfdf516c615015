"""What models think of the labels themselves, where label probabilities allow to tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.apart import LabelScores
from assay.leaderboard.correctness import Bools, Correctness, Scope
from assay.leaderboard.finding import Finding
from assay.leaderboard.pride import pride
from assay.leaderboard.wording import count, percent


@dataclass(frozen=True, slots=True)
class ModelPrior:
    """The prior of one model in one format.

    Attributes
    ----------
    prior : tuple of float
        Probability of each label, whatever the options.
    items : int
        Items that it rests on.
    accuracy, debiased : float
        Share of items and orders on which the most probable label is the right option's, as scored
        and with the prior divided out.
    """

    model: str
    format: str
    prior: tuple[float, ...]
    items: int
    accuracy: float
    debiased: float


@dataclass(frozen=True)
class LabelPrior(Finding):
    """The label priors of a scope; without any where they cannot be told from the options."""

    name: ClassVar[str] = "label_prior"
    priors: tuple[ModelPrior, ...]

    @property
    def reading(self) -> str:
        """The strongest prior, and what is left without it."""
        if not self.priors:
            return (
                "The prior on labels is unknown: no item has label probabilities under orders that "
                "show every option at every label equally often."
            )
        found = max(self.priors, key=lambda prior: max(prior.prior) * len(prior.prior))
        best = int(np.argmax(found.prior))
        return (
            f"Whatever the options, {found.model} gives label {best + 1} of {len(found.prior)} "
            f"{percent(found.prior[best])} where an even prior gives "
            f"{percent(1 / len(found.prior))} ({count(found.items, 'item')}, {found.format}); with "
            f"the prior divided out its accuracy goes from {percent(found.accuracy)} to "
            f"{percent(found.debiased)}."
        )


def label_prior(correctness: Correctness, scope: Scope) -> LabelPrior:
    """Estimate the prior of every model on the labels (PriDe).

    Parameters
    ----------
    correctness : Correctness
        With `apart.labels`; bits and unbalanced orders do not tell.
    scope : Scope
        Items with another number of options than most are left out, and so are items for which an
        order has no score.

    Returns
    -------
    LabelPrior
        The priors are estimates from these items; they have no interval.

    References
    ----------
    Zheng et al. (2024), arXiv:2309.03882.
    """
    priors = [
        found
        for name, scores in correctness.apart.labels.items()
        for m in correctness.ranked(scope)
        if (found := _of_model(correctness, scope, name, scores, int(m))) is not None
    ]
    return LabelPrior(scope.benchmark, tuple(priors))


def _of_model(
    correctness: Correctness, scope: Scope, name: str, scores: LabelScores, m: int
) -> ModelPrior | None:
    options = np.array([item.options for item in correctness.items])
    asked = scores.orders[:, :, 0] >= 0
    # Locked items are asked in one order; one of them may be the only item.
    items = scope.items & (asked.sum(axis=1) > 1) & _scored(scores.log_probs[m], asked, options)
    if not items.any():
        return None
    size = int(np.bincount(options[items]).argmax())
    items &= options == size
    first = int(np.flatnonzero(items)[0])
    items &= (scores.orders == scores.orders[first]).all(axis=(1, 2))
    along = np.flatnonzero(asked[first])
    log_probs = scores.log_probs[m][np.ix_(items, along)][:, :, :size].astype(float)
    try:
        found = pride(log_probs, scores.orders[first, along, :size])
    except AnalysisError:
        return None
    gold = correctness.gold_slots[np.ix_(items, np.array(scores.columns)[along])]
    return ModelPrior(
        model=correctness.models[m],
        format=name,
        prior=tuple(found.prior.tolist()),
        items=found.items,
        accuracy=float(np.mean(log_probs.argmax(axis=2) == gold)),
        debiased=float(np.mean(found.debiased(log_probs).argmax(axis=2) == gold)),
    )


def _scored(log_probs: NDArray[np.float32], asked: Bools, options: NDArray[np.int64]) -> Bools:
    """Return the items with a score for every label of every order that they were asked in."""
    wanted = asked[:, :, None] & (np.arange(log_probs.shape[2]) < options[:, None, None])
    return np.asarray((np.isfinite(log_probs) | ~wanted).all(axis=(1, 2)), bool)


def label_prior_table(found: LabelPrior) -> pd.DataFrame:
    """Return one row for each model, format and label.

    Columns: model, benchmark, format (text), label (whole; the first is 1), n (whole; items),
    prior, even, accuracy, debiased (real; of the model, the same for all labels).
    """
    rows = [
        {
            "model": one.model,
            "benchmark": found.benchmark,
            "format": one.format,
            "label": place + 1,
            "n": one.items,
            "prior": share,
            "even": 1 / len(one.prior),
            "accuracy": one.accuracy,
            "debiased": one.debiased,
        }
        for one in found.priors
        for place, share in enumerate(one.prior)
    ]
    return pd.DataFrame(rows)
