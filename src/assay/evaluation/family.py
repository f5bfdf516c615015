"""Several candidates of one cycle: the more there are, the sooner one looks better by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.evaluation.policy import Policy
from assay.evaluation.verdicts import Comparison, Effect
from assay.stats.multiplicity import holm


@dataclass(frozen=True, slots=True)
class Corrected:
    """What a candidate shows, corrected over all candidates of its cycle.

    Attributes
    ----------
    candidates : int
        Those that were tested.
    better_p : float or None
        That it is better on the target; None where that could not be tested.
    certain_p : float or None
        The same, with everything that is missing counted against it.
    no_loss_p : float or None
        That it is so and loses less than the margin on the whole suite: the larger of both
        p-values, the second in units of the level of superiority.
    """

    candidates: int
    better_p: float | None
    certain_p: float | None
    no_loss_p: float | None


def corrected(comparisons: Sequence[Comparison], policy: Policy) -> list[Corrected]:
    """Correct the claims of every candidate of a cycle together (Holm 1979).

    Three claims are made of each, and each is corrected over the candidates: that it is better,
    that it still is if all that is missing counts against it, and that it is so without a loss on
    the suite, which a deployment rests on. A policy may leave the correction out.
    """
    better = [_p(found.target.uplift) for found in comparisons]
    certain = [_p(found.target.worst_case) for found in comparisons]
    scale = 2 * policy.alpha_superiority / (1 - policy.level)
    whole = [
        max(sure, min(1.0, _loss(found) * scale))
        for sure, found in zip(certain, comparisons, strict=True)
    ]
    families = [_family(values, policy) for values in (better, certain, whole)]
    tested = sum(not math.isnan(p) for p in better)
    return [Corrected(tested, *found) for found in zip(*families, strict=True)]


def _p(found: Effect | None) -> float:
    return math.nan if found is None or found.better_p is None else found.better_p


def _loss(found: Comparison) -> float:
    """Return the p-value of a loss of the margin on the suite, 1 where it was not tested."""
    values = [one.p_value for one in found.guardrails if one.metric == "success"]
    return next((value for value in values if value is not None), 1.0)


def _family(values: Sequence[float], policy: Policy) -> list[float | None]:
    p_values = np.asarray(values, float)
    if policy.candidates == "together" and p_values.size:
        p_values = holm(p_values[None])[0]
    return [None if math.isnan(value) else float(value) for value in p_values]
