"""Equivalence of two models on the same items: "tied" as a claim with an error rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from assay.core.errors import AnalysisError
from assay.stats.paired import PairedCounts, paired_difference
from assay.stats.result import Interval, Real, unwrap
from assay.stats.tango import tango_z

_REFERENCE = "Schuirmann (1987), J. Pharmacokinet. Biopharm. 15:657-680; Tango (1998)"


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests that the difference lies within a margin.

    Attributes
    ----------
    interval : Interval
        Tango interval at level ``1 - 2 alpha``.
    p_value : float or ndarray
        The larger of the two one-sided p-values; equivalence is shown where it is at most alpha.
    margin, alpha : float
    method, reference : str
    """

    interval: Interval
    p_value: Real
    margin: float
    alpha: float
    method: str
    reference: str

    @property
    def equivalent(self) -> NDArray[np.bool_]:
        """Whether a difference as large as the margin is rejected on both sides."""
        return np.asarray(self.p_value) <= self.alpha


def equivalence(counts: PairedCounts, *, margin: float, alpha: float = 0.05) -> Equivalence:
    """Test whether |B's accuracy - A's| is smaller than `margin`.

    "Not significantly different" says nothing of the kind: it also holds for any two models on
    few enough items.

    Parameters
    ----------
    counts : PairedCounts
    margin : float
        In units of accuracy, between 0 and 1.
    alpha : float
        Largest probability to claim equivalence of two models that differ by the margin.

    Returns
    -------
    Equivalence
        NaN where there are no items.

    Raises
    ------
    AnalysisError
        If the margin or alpha is out of range.

    Notes
    -----
    The score test alone claims equivalence in up to 6.8 % of the cases where it promises 5 %
    (n = 133, margin .02, every discordant item in one direction: no discordant item is seen with
    probability .068). The exact binomial probability of that extreme is a second bound on each
    side; with it the exact size stays at or below .0501 for n of 10 to 500 and margins of .01 to
    .10.

    Examples
    --------
    >>> bool(equivalence(PairedCounts(both=900, b=4, c=4, neither=92), margin=0.02).equivalent)
    True
    """
    _validate(margin, alpha)
    defined = counts.n > 0
    n = np.where(defined, counts.n, 1)
    score = np.maximum(
        special.ndtr(tango_z(counts.b, counts.c, n, delta=margin)),
        special.ndtr(-tango_z(counts.b, counts.c, n, delta=-margin)),
    )
    one_sided_extreme = stats.binom.cdf(np.abs(counts.b - counts.c), n, margin)
    p_value = np.maximum(score, one_sided_extreme)
    return Equivalence(
        interval=paired_difference(counts, level=1 - 2 * alpha, method="tango"),
        p_value=unwrap(np.where(defined, p_value, np.nan)),
        margin=margin,
        alpha=alpha,
        method="two one-sided score tests with an exact binomial bound",
        reference=_REFERENCE,
    )


def _validate(margin: float, alpha: float) -> None:
    if not 0 < margin < 1:
        raise AnalysisError(
            f"an equivalence margin lies between 0 and 1, not {margin}.",
            fix="give it as a share of items: 0.02 is two points.",
        )
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
