"""The prior of a model on the labels, told apart from what it thinks of the options.

It needs log-probabilities of the labels under cyclic orders. Outcomes right or wrong do not hold
them, and orders that are not cyclic show options at some labels more often than at others; neither
can be used, and nothing here accepts them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from assay.core.errors import AnalysisError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pride:
    """The label prior and what is left without it.

    Attributes
    ----------
    prior : ndarray of float, shape (label,)
        Probability of each label whatever the options; uniform for an unbiased model.
    items : int
    method, reference : str
    """

    prior: Floats
    items: int
    method: str
    reference: str

    def debiased(self, log_probs: ArrayLike) -> Floats:
        """Return log-probabilities of the options with the prior divided out.

        Parameters
        ----------
        log_probs : array_like of float, shape (..., label)
            Of the labels, as shown.

        Returns
        -------
        ndarray of float, same shape
            Normalised over labels.
        """
        values = np.asarray(log_probs, float) - np.log(self.prior)
        return np.asarray(log_softmax(values, axis=-1), float)


def pride(log_probs: ArrayLike, orders: ArrayLike) -> Pride:
    """Estimate the prior on labels.

    Parameters
    ----------
    log_probs : array_like of float, shape (item, order, label)
        log P(label) of the label tokens; normalised over the labels or not.
    orders : array_like of int, shape (order, label)
        ``orders[k, p]`` is the option shown at label p under order k. Cyclic: every option stands
        at every label equally often.

    Returns
    -------
    Pride

    Raises
    ------
    AnalysisError
        If the orders are not permutations that balance options over labels, the shapes do not fit,
        or a log-probability is not finite.

    Notes
    -----
    An item's prior is the softmax of the mean over orders of log P(label); the prior is its mean
    over items. If log P(label) is a label term plus a term of the option shown there, the option
    terms of all labels have the same mean over cyclic orders, and the label term is left.

    References
    ----------
    Zheng et al. (2024), Large language models are not robust multiple choice selectors, ICLR,
    arXiv:2309.03882, equations 7 and 8.

    Examples
    --------
    >>> found = pride(np.log([[[0.6, 0.4], [0.8, 0.2]]]), [[0, 1], [1, 0]])
    >>> found.prior.round(3).tolist()
    [0.71, 0.29]
    """
    values = _validate(log_probs, orders)
    return Pride(
        prior=np.asarray(softmax(values.mean(axis=1), axis=1).mean(axis=0), float),
        items=len(values),
        method="PriDe: mean over items of the softmax of mean log P(label) over cyclic orders",
        reference="Zheng et al. (2024), arXiv:2309.03882",
    )


def _validate(log_probs: ArrayLike, orders: ArrayLike) -> Floats:
    values, shown = np.asarray(log_probs, float), np.asarray(orders)
    if values.ndim != 3 or shown.shape != values.shape[1:] or not values.size:
        raise AnalysisError(
            f"log-probabilities of shape {values.shape} do not fit orders of shape {shown.shape}.",
            fix="give one of each item, order and label, and one option of each order and label.",
        )
    if not np.isfinite(values).all():
        raise AnalysisError("log-probabilities of labels must be finite.")
    labels = shown.shape[1]
    if not np.array_equal(np.sort(shown, axis=1), np.tile(np.arange(labels), (len(shown), 1))):
        raise AnalysisError(f"each order must be a permutation of the options 0 to {labels - 1}.")
    places = (shown[:, :, None] == np.arange(labels)).sum(axis=0)
    if np.any(places != places[0, 0]):
        raise AnalysisError(
            "the orders do not show every option at every label equally often.",
            fix="use the cyclic orders: the prior is not defined on p0 to p5.",
        )
    return values
