"""Effects of an order that are not effects of where the right option stands.

An order puts the right option of different items at different positions, and six orders cannot
put it at four positions equally often. A model that likes the first position then does better
under some orders than under others, although the order as such does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.finding import Finding
from assay.leaderboard.order_model import Fit, design_of, fit
from assay.leaderboard.wording import count, gap_interval, points
from assay.stats.clusters import MANY_CLUSTERS
from assay.stats.multiplicity import adjust_p

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """One model.

    Attributes
    ----------
    model : str
    fit : Fit
        Its effects.
    p_order, p_position : float
        That all effects of a kind are zero, adjusted over the models of the scope (Holm).
    """

    model: str
    fit: Fit
    p_order: float
    p_position: float


@dataclass(frozen=True)
class OrderEffects(Finding):
    """Order and position effects of every model, told apart.

    Attributes
    ----------
    orders, positions : tuple of str
    items : int
        Observed for every model under every offered configuration, with the options shown.
    effects : tuple of OrderEffect
    why_not : str
        Empty where the effects can be told apart, else what stands in the way.
    """

    name: ClassVar[str] = "order_effects"
    orders: tuple[str, ...]
    positions: tuple[str, ...]
    items: int
    effects: tuple[OrderEffect, ...]
    alpha: float
    why_not: str

    @property
    def reading(self) -> str:
        """How many models react to orders and to positions, and the largest effect."""
        if self.why_not:
            return f"Effects of order and position cannot be told apart: {self.why_not}."
        total = len(self.effects)
        orders = sum(effect.p_order <= self.alpha for effect in self.effects)
        positions = sum(effect.p_position <= self.alpha for effect in self.effects)
        known = [effect for effect in self.effects if not np.isnan(effect.p_position)]
        if not known:
            return (
                "Effects of order and position cannot be told: fewer than "
                f"{MANY_CLUSTERS} independent items depend on the order."
            )
        place, found, model = max(
            (
                (name, shown, effect.model)
                for effect in known
                for name, shown in zip(self.positions, effect.fit.position, strict=True)
            ),
            key=lambda entry: abs(float(entry[1].estimate)),
        )
        spread = gap_interval(float(found.low), float(found.high), level=found.level)
        return (
            f"At equal positions of the right option, the order as such matters for {orders} of "
            f"{count(total, 'model')}; at equal orders, the position matters for {positions} "
            f"(corrected over models), most for {model}: {points(float(found.estimate))} points "
            f"with the right option at {place} ({spread}, {count(self.items, 'item')})."
        )


def order_effects(correctness: Correctness, scope: Scope, *, alpha: float = 0.05) -> OrderEffects:
    """Estimate the effect of each order at equal positions of the right option.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    alpha : float
        Intervals have level 1 - alpha.

    Returns
    -------
    OrderEffects
        Without effects, and with the reason, where they cannot be told apart: one order, no items,
        fewer than 20 clusters, or right options that an order always shows at one position.

    Raises
    ------
    AnalysisError
        If alpha is out of range.

    Notes
    -----
    Outcomes, averaged over the formats, are ``item + order + position of the right option``, all
    fixed; effects of a kind sum to zero. Each item's mean is taken out, and standard errors are
    clustered (t and Hotelling's T squared, with the clusters that vary between orders as
    observations; NaN with fewer than 20 of them), so that nothing is assumed of the distribution
    of the outcomes of an item. If a preference for positions acts alike on items
    whose right option comes first, second, ... in the source, and the order as such does nothing,
    then the order effects are zero; a preference that acts more on hard items does not disturb
    this.
    """
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
    design = design_of(correctness, scope)
    models = correctness.ranked(scope) if not design.why_not else np.zeros(0, np.intp)
    fits = [fit(design, correctness.right[m], 1 - alpha) for m in models]
    p_order = adjust_p([found.p_order for found in fits], method="holm").p_values
    p_position = adjust_p([found.p_position for found in fits], method="holm").p_values
    return OrderEffects(
        benchmark=scope.benchmark,
        orders=tuple(str(correctness.configurations[row[0]].order) for row in design.table),
        positions=tuple(f"position {slot + 1}" for slot in design.positions),
        items=int(design.items.sum()),
        effects=tuple(
            OrderEffect(correctness.models[m], found, float(p_order[k]), float(p_position[k]))
            for k, (m, found) in enumerate(zip(models, fits, strict=True))
        ),
        alpha=alpha,
        why_not=design.why_not,
    )


def order_table(found: OrderEffects) -> pd.DataFrame:
    """Return one row for each model and order, and for each model and position.

    Columns: model, benchmark, kind ("order" or "position"), level (text), n (whole), raw (NaN for
    positions), effect, low, high, p_joint, p_adjusted (real).
    """
    rows = []
    for effect in found.effects:
        fitted, unknown = effect.fit, (np.nan,) * len(found.positions)
        order = ("order", fitted.p_order, effect.p_order)
        position = ("position", fitted.p_position, effect.p_position)
        for (kind, joint, adjusted), names, raws, shown in (
            (order, found.orders, fitted.raw, fitted.adjusted),
            (position, found.positions, unknown, fitted.position),
        ):
            rows += [
                {
                    "model": effect.model,
                    "benchmark": found.benchmark,
                    "kind": kind,
                    "level": name,
                    "n": found.items,
                    "raw": raw,
                    "effect": bound.estimate,
                    "low": bound.low,
                    "high": bound.high,
                    "p_joint": joint,
                    "p_adjusted": adjusted,
                }
                for name, raw, bound in zip(names, raws, shown, strict=True)
            ]
    return pd.DataFrame(rows)
