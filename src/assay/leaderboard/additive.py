"""The additive logistic model of outcomes: model + item + configuration, without interactions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from assay.leaderboard.correctness import Bools

Floats32 = NDArray[np.float32]

#: Prior s.d. of item effects in logits; keeps items that all models answer alike finite.
_ITEM_SD = 3.0
#: Precision of the other priors, which only keep all-right levels finite.
_WEAK = 1e-3
_SWEEPS = 200
_TOLERANCE = 1e-3
_LARGEST_STEP = 2.0


def fit_additive(right: Bools, present: Bools) -> tuple[Floats32, Floats32, Floats32]:
    """Return the effects of models, items and configurations, in logits.

    Parameters
    ----------
    right, present : ndarray of bool, shape (model, item, configuration)

    Returns
    -------
    model, item, configuration : ndarray of float32
        Penalised maximum likelihood (item effects normal with s.d. 3 logits), by Newton steps
        on one family of effects at a time. The logit of a cell is the sum of its three effects;
        those of items and of configurations have mean zero.
    """
    outcome, weight = right.astype(np.float32), present.astype(np.float32)
    effects = [np.zeros(size, np.float32) for size in right.shape]
    penalty = (_WEAK, 1 / _ITEM_SD**2, _WEAK)
    for _ in range(_SWEEPS):
        largest = 0.0
        for axis in range(3):
            others = tuple(k for k in range(3) if k != axis)
            chance = _chance(effects)
            slope = ((outcome - chance) * weight).sum(axis=others) - penalty[axis] * effects[axis]
            curve = (chance * (1 - chance) * weight).sum(axis=others) + penalty[axis]
            step = np.clip(slope / curve, -_LARGEST_STEP, _LARGEST_STEP)
            effects[axis] = effects[axis] + step
            largest = max(largest, float(np.abs(step).max()))
        # Only the sum of the three levels matters; along it, coordinate steps would crawl.
        for axis in (1, 2):
            level = effects[axis].mean()
            effects[axis], effects[0] = effects[axis] - level, effects[0] + level
        if largest < _TOLERANCE:
            break
    return effects[0], effects[1], effects[2]


def fit_level(right: Bools, present: Bools, rest: Floats32) -> float:
    """Return the effect of one model, where the effects of all else are known.

    Parameters
    ----------
    right, present : ndarray of bool, shape (item, configuration)
    rest : ndarray of float32, same shape
        The other effects of each cell, summed.
    """
    level = 0.0
    for _ in range(_SWEEPS):
        chance = expit(rest + np.float32(level))
        slope = float(((right - chance) * present).sum()) - _WEAK * level
        curve = float((chance * (1 - chance) * present).sum()) + _WEAK
        step = float(np.clip(slope / curve, -_LARGEST_STEP, _LARGEST_STEP))
        level += step
        if abs(step) < _TOLERANCE:
            break
    return level


def _chance(effects: list[Floats32]) -> Floats32:
    model, item, configuration = effects
    return np.asarray(expit(model[:, None, None] + item[None, :, None] + configuration), np.float32)
