"""Accuracy under every configuration from answers to some of them: a Rasch model that borrows.

One model's answers follow ``logit P = configuration + item``. Items are normal, configurations
normal around their family, and both spreads are estimated: a configuration with few answers leans
on its family, and an easy item does not count for the configuration that happened to ask it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_expit

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Bools, Correctness, Scope, family

Floats = NDArray[np.float64]

_CYCLES, _TOLERANCE, _LARGEST_STEP = 50, 1e-3, 1.0
#: Bound of an extrapolation, in steps.
_LONGEST = 30.0
#: Prior s.d. of a family's level in logits; it only keeps all-right families finite.
_FAMILY_SD = 3.0
#: Spreads in logits of configurations within a family and of items, to start from.
_START = (0.3, 1.5)
#: A variance that was estimated as zero could never grow again.
_SMALLEST = 1e-4
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
#: Products are rounded to multiples of this, so that sums are exact and no number depends on the
#: number of threads.
_UNIT = 2.0**-24


@dataclass(frozen=True)
class Borrowed:
    """Accuracies of one model under every configuration.

    Attributes
    ----------
    accuracy : ndarray of float, shape (configuration,)
        Over all items: answers where there are any, the fitted probability elsewhere.
    naive : ndarray of float, shape (configuration,)
        Share right of the answers alone; NaN where there is none.
    configuration_sd, item_sd : float
        Estimated spreads in logits: of configurations within their family, and of items.
    """

    accuracy: Floats
    naive: Floats
    configuration_sd: float
    item_sd: float


def borrow(right: Bools, asked: Bools, families: NDArray[np.intp]) -> Borrowed:
    """Estimate the accuracy of one model under every configuration.

    Parameters
    ----------
    right, asked : ndarray of bool, shape (item, configuration)
        `right` is read only where `asked`.
    families : ndarray of int, shape (configuration,)
        Family of each configuration, numbered from 0.

    Returns
    -------
    Borrowed

    Raises
    ------
    AnalysisError
        If the shapes differ or nothing was asked.

    Notes
    -----
    Marginal maximum likelihood by EM with Gauss-Hermite quadrature over the items (Bock & Aitkin
    1981), and a normal prior on configurations whose variance is estimated on the way. EM crawls
    where few cells are asked; two of its steps are extrapolated to a third (Varadhan & Roland
    2008, scheme S3). The probability of a cell that was not asked is its mean over what is known
    of the item.

    References
    ----------
    Bock & Aitkin (1981), Psychometrika 46:443-459. Polo et al. (2024), PromptEval,
    arXiv:2405.17202. Varadhan & Roland (2008), Scandinavian Journal of Statistics 35:335-353.

    Examples
    --------
    >>> asked = np.array([[True, False], [False, True]] * 20)
    >>> bool(borrow(asked, asked, np.array([0, 0])).accuracy.min() > 0.9)
    True
    """
    if right.shape != asked.shape or families.shape != right.shape[1:]:
        raise AnalysisError("answers, the mask of what was asked and families differ in shape.")
    if not asked.any():
        raise AnalysisError("nothing was asked, so there is nothing to borrow from.")
    hits, answers = (right & asked).sum(axis=0), asked.sum(axis=0)
    given = _Given.of(right & asked, asked)
    state = _fit(given, _State.start(hits, answers, families))
    known, chance = given.weight[:, None] * _posterior(given, state), _chance(state)[0]
    unasked = 1 - given.right - given.wrong
    expected = (unasked.T @ known * _rounded(chance)).sum(axis=1)
    return Borrowed(
        accuracy=(hits + expected) / len(right),
        naive=np.divide(hits, answers, out=np.full(hits.shape, np.nan), where=answers > 0),
        configuration_sd=float(np.sqrt(state.configuration_variance)),
        item_sd=state.item_sd,
    )


@dataclass(frozen=True)
class _State:
    """The parameters; `level` is that of each configuration, in logits."""

    level: Floats
    family: Floats
    member: Floats
    configuration_variance: float
    item_sd: float

    @classmethod
    def start(
        cls, hits: NDArray[np.int64], answers: NDArray[np.int64], families: NDArray[np.intp]
    ) -> _State:
        member = np.eye(int(families.max()) + 1)[families]
        won, asked = hits @ member, answers @ member
        share = (won + 0.5) / (asked + 1)
        family = np.log(share / (1 - share))
        return cls(member @ family, family, member, _START[0] ** 2, _START[1])

    @property
    def vector(self) -> Floats:
        """The parameters on scales without bounds, for extrapolation."""
        spreads = np.log([self.configuration_variance, self.item_sd])
        return np.concatenate([self.level, self.family, spreads])

    def at(self, vector: Floats) -> _State:
        """Return the state that has this vector."""
        level, family, spreads = np.split(vector, np.cumsum([self.level.size, self.family.size]))
        variance, item_sd = np.exp(np.maximum(spreads, np.log(_SMALLEST)))
        return _State(level, family, self.member, float(variance), float(item_sd))


@dataclass(frozen=True)
class _Given:
    """The answers: items that were asked and answered alike are one row.

    `right` and `wrong` have shape (row, configuration), `weight` counts the items of a row.
    """

    both: Floats
    weight: Floats

    @classmethod
    def of(cls, right: Bools, asked: Bools) -> _Given:
        cells = np.concatenate([right, asked & ~right], axis=1)
        packed = np.ascontiguousarray(np.packbits(cells, axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, weight = np.unique(keys, return_index=True, return_counts=True)
        return cls(cells[first].astype(float), weight.astype(float))

    @property
    def right(self) -> Floats:
        return self.both[:, : self.both.shape[1] // 2]

    @property
    def wrong(self) -> Floats:
        return self.both[:, self.both.shape[1] // 2 :]


def _rounded(values: Floats) -> Floats:
    return np.asarray(np.rint(values / _UNIT) * _UNIT)


def _chance(state: _State) -> tuple[Floats, Floats, Floats]:
    """Return P, log P and log(1 - P), each of shape (configuration, node)."""
    logit = state.level[:, None] + state.item_sd * _NODES
    right, wrong = log_expit(logit), log_expit(-logit)
    return np.exp(right), right, wrong


def _posterior(given: _Given, state: _State) -> Floats:
    """Return what is known of the items of each row: probabilities of nodes, shape (row, node)."""
    _, log_right, log_wrong = _chance(state)
    weight = given.both @ _rounded(np.concatenate([log_right, log_wrong]))
    weight -= weight.max(axis=1, keepdims=True)
    np.exp(weight, out=weight)
    weight *= _WEIGHTS
    weight /= weight.sum(axis=1, keepdims=True)
    return _rounded(weight)


def _fit(given: _Given, state: _State) -> _State:
    """Return the state that a sweep no longer moves."""
    for _ in range(_CYCLES):
        once = _sweep(given, state)
        first = once.vector - state.vector
        if _moved(first) < _TOLERANCE:
            return once
        twice = _sweep(given, once)
        second = twice.vector - once.vector - first
        length = float(np.sqrt((first**2).sum() / max((second**2).sum(), _SMALLEST**2)))
        if length <= 1:
            state = twice
            continue
        length = min(length, _LONGEST)
        ahead = state.vector + 2 * length * first + length**2 * second
        state = _sweep(given, state.at(ahead))
    return state


def _moved(step: Floats) -> float:
    """Return how far a sweep moved a level or (relatively) the spread of the items.

    The spread of configurations may crawl to zero for ever; it is judged by the levels.
    """
    return float(np.abs(np.delete(step, -2)).max())


def _sweep(given: _Given, state: _State) -> _State:
    """Return the state after one EM sweep with a Newton step for the configurations."""
    known = given.weight[:, None] * _posterior(given, state)
    hits, misses = np.split(given.both.T @ known, 2)
    answers = hits + misses
    chance = _chance(state)[0]
    prior = state.member @ state.family
    slope = (hits - answers * chance).sum(axis=1)
    slope -= (state.level - prior) / state.configuration_variance
    curve = (answers * chance * (1 - chance)).sum(axis=1) + 1 / state.configuration_variance
    level = state.level + np.clip(slope / curve, -_LARGEST_STEP, _LARGEST_STEP)
    size = state.member.sum(axis=0)
    shrink = size + state.configuration_variance / _FAMILY_SD**2
    family = (level[:, None] * state.member).sum(axis=0) / shrink
    variance = np.mean((level - state.member @ family) ** 2 + 1 / curve)
    # The spread of the items is the slope of the logit in a standard normal item.
    slope_of_item = ((hits - answers * chance) * _NODES).sum()
    curve_of_item = (answers * chance * (1 - chance) * _NODES**2).sum() + _SMALLEST
    step = np.clip(slope_of_item / curve_of_item, -_LARGEST_STEP, _LARGEST_STEP)
    item_sd = max(state.item_sd + float(step), _SMALLEST)
    return _State(level, family, state.member, max(float(variance), _SMALLEST), item_sd)


def borrowed_table(correctness: Correctness, scope: Scope) -> pd.DataFrame:
    """Return one row for each model and configuration of a grid that was asked in part.

    Columns: benchmark, model, configuration, answers, naive (share right of the answers), accuracy
    (estimated over all `n` items that every offered configuration makes sense for). Models
    without an answer are left out.
    """
    offered = correctness.offered(scope)
    items = np.flatnonzero(correctness.applicable[:, offered].all(axis=1) & scope.items)
    ways = [correctness.configurations[c] for c in offered]
    families = np.unique([family(way) for way in ways], return_inverse=True)[1]
    frames = []
    for m in range(len(correctness.models)):
        cells = np.ix_(items, offered)
        asked, right = correctness.present[m][cells], correctness.right[m][cells]
        if not asked.any():
            continue
        found = borrow(right, asked, families)
        frames.append(
            pd.DataFrame(
                {
                    "benchmark": scope.benchmark,
                    "model": correctness.models[m],
                    "configuration": [way.key for way in ways],
                    "answers": asked.sum(axis=0),
                    "naive": found.naive,
                    "accuracy": found.accuracy,
                    "n": items.size,
                }
            )
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
