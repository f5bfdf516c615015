"""How many items a paired comparison needs, and what a given number can show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from assay.core.errors import AnalysisError
from assay.stats.evalue import paired_evalue

#: What decides: the exact two-sided McNemar test, or a two-sided e-value of at least 1 / alpha.
DecidingTest = Literal["mcnemar", "evalue"]

_METHOD = {"mcnemar": "exact two-sided McNemar", "evalue": "two-sided uniform-mixture e-value"}
_REFERENCE = "Duffy (1984), Biometrics 40:1005-1015 (exact unconditional power of McNemar's test)"
#: Standard deviations of the discordant count that are summed over; the rest is below 1e-16.
_REACH = 8.5


@dataclass(frozen=True, slots=True)
class Design:
    """A paired comparison by one deciding test, and what it can show.

    Attributes
    ----------
    n : int
        Number of items.
    effect : float
        Difference in accuracy; NaN where no effect can be shown with this power.
    discordance : float
        Share of items on which exactly one model is right.
    alpha, power : float
        `power` is what the design reaches, never less than what was asked for, unless the
        effect is NaN.
    method, reference : str
    """

    n: int
    effect: float
    discordance: float
    alpha: float
    power: float
    method: str
    reference: str = _REFERENCE

    @property
    def attainable(self) -> bool:
        """Whether some effect can be shown at all: it cannot exceed the discordance."""
        return not math.isnan(self.effect)


def mcnemar_power(n: int, *, effect: float, discordance: float, alpha: float = 0.05) -> float:
    """Return the probability that exact McNemar finds the better model to be better.

    Parameters
    ----------
    n : int
        Number of items.
    effect : float
        True difference in accuracy, 0 < effect <= discordance.
    discordance : float
        Probability that exactly one of the two models is right.
    alpha : float
        Two-sided level.

    Notes
    -----
    Exact: the number of discordant items is binomial, and given it so is the number in favour of
    the worse model. A rejection in the wrong direction does not count as power.

    Examples
    --------
    >>> round(mcnemar_power(50, effect=0.2, discordance=0.3), 2)
    0.7
    """
    _validate(effect, discordance, alpha)
    return _power(n, effect, discordance, alpha, "mcnemar")


def evalue_power(n: int, *, effect: float, discordance: float, alpha: float = 0.05) -> float:
    """Return the probability that the e-value after `n` items finds the better model.

    Parameters
    ----------
    n, effect, discordance : as in `mcnemar_power`
    alpha : float
        The e-value of `paired_evalue`, two-sided, decides from 1 / alpha on.

    Notes
    -----
    Of the e-value when all `n` items are in. One who looks after each item and stops at 1 / alpha
    finds the better model at least as often.

    Examples
    --------
    >>> round(evalue_power(50, effect=0.2, discordance=0.3), 2)
    0.37
    """
    _validate(effect, discordance, alpha)
    return _power(n, effect, discordance, alpha, "evalue")


def _power(n: int, effect: float, discordance: float, alpha: float, test: DecidingTest) -> float:
    total, weight = _discordant(n, discordance)
    critical = _critical(alpha, 1 << int(total[-1]).bit_length(), test)[total]
    against = (discordance - effect) / (2 * discordance)
    found = np.where(critical >= 0, special.bdtr(np.maximum(critical, 0), total, against), 0.0)
    return float(np.sum(weight * found))


@lru_cache(maxsize=8)
def _discordant(n: int, discordance: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of discordant items that may occur, and their probabilities.

    A search over effects asks for the same again and again.
    """
    centre, spread = n * discordance, math.sqrt(n * discordance * (1 - discordance))
    low = max(0, math.floor(centre - _REACH * spread - 1))
    high = min(n, math.ceil(centre + _REACH * spread + 1))
    total = np.arange(low, high + 1)
    return total, np.asarray(stats.binom.pmf(total, n, discordance))


@lru_cache(maxsize=32)
def _critical(alpha: float, size: int, test: DecidingTest) -> NDArray[np.int64]:
    """Return, for 0 … size discordant items, the most that may favour the worse model; or -1."""
    total = np.arange(size + 1)
    if test == "evalue":
        return _critical_evalue(alpha, total)
    guess = np.maximum(stats.binom.ppf(alpha / 2, total, 0.5), 0)
    critical = np.where(2 * special.bdtr(guess, total, 0.5) > alpha, guess - 1, guess)
    return np.asarray(critical, np.int64)


def _critical_evalue(alpha: float, total: NDArray[np.int64]) -> NDArray[np.int64]:
    # The e-value falls as the discordant items come to be balanced.
    decides, fails = np.full_like(total, -1), total // 2 + 1
    while np.any(fails - decides > 1):
        middle = np.maximum((decides + fails) // 2, 0)
        enough = np.asarray(paired_evalue(total - middle, middle).log_e) >= -math.log(alpha)
        enough &= middle < fails
        decides = np.where(enough, middle, decides)
        fails = np.where(enough, fails, np.minimum(fails, middle))
    return decides


def needed_n(
    *,
    effect: float,
    discordance: float,
    alpha: float = 0.05,
    power: float = 0.8,
    test: DecidingTest = "mcnemar",
) -> Design:
    """Return the number of paired items at which the deciding test finds `effect`.

    Parameters
    ----------
    effect, discordance : float
        As in `mcnemar_power`.
    alpha : float
        Two-sided level of the deciding test.
    power : float
        Wanted probability to find the effect.
    test : {"mcnemar", "evalue"}
        What decides: the exact test, or an e-value of at least 1 / alpha.

    Returns
    -------
    Design
        Its `n` reaches the power and ``n - 1`` does not. (The power of an exact test is a saw:
        some larger n may fall short by a hair.)

    Raises
    ------
    AnalysisError
        If the effect exceeds the discordance, which no data can show, or is not positive.

    Examples
    --------
    >>> needed_n(effect=0.2, discordance=0.3).n
    61
    """
    _validate(effect, discordance, alpha, power, test)
    z_alpha, z_power = special.ndtri(1 - alpha / 2), special.ndtri(power)
    spread = z_alpha * math.sqrt(discordance) + z_power * math.sqrt(discordance - effect**2)
    guess = max(1, math.ceil((spread / effect) ** 2))

    def reached(n: int) -> float:
        return _power(n, effect, discordance, alpha, test)

    low, high = 0, guess
    while reached(high) < power:
        low, high = high, math.ceil(1.1 * high) + 1
    if low == 0:
        low = math.floor(0.8 * guess) - 1
        while low > 0 and reached(low) >= power:
            low, high = math.floor(0.8 * low) - 1, low
        low = max(low, 0)
    while high - low > 1:
        middle = (low + high) // 2
        if reached(middle) >= power:
            high = middle
        else:
            low = middle
    return Design(high, effect, discordance, alpha, reached(high), _METHOD[test])


def minimum_detectable_effect(
    n: int,
    *,
    discordance: float,
    alpha: float = 0.05,
    power: float = 0.8,
    test: DecidingTest = "mcnemar",
) -> Design:
    """Return the smallest difference in accuracy that `n` items show with this power.

    Parameters
    ----------
    n : int
        Number of items.
    discordance, alpha, power, test
        As in `needed_n`.

    Returns
    -------
    Design
        `effect` is NaN ("unattainable") where even a difference as large as the discordance is
        found too seldom; `power` is then the power at that largest difference.

    Examples
    --------
    >>> tests = ("mcnemar", "evalue")
    >>> [round(minimum_detectable_effect(300, discordance=0.15, test=t).effect, 3) for t in tests]
    [0.064, 0.084]
    """
    _validate(discordance, discordance, alpha, power, test)

    def reached(effect: float) -> float:
        return _power(n, effect, discordance, alpha, test)

    if reached(discordance) < power:
        return Design(n, math.nan, discordance, alpha, reached(discordance), _METHOD[test])
    low, high = 0.0, discordance
    while high - low > 1e-7:
        middle = (low + high) / 2
        if reached(middle) >= power:
            high = middle
        else:
            low = middle
    return Design(n, high, discordance, alpha, reached(high), _METHOD[test])


def needed_n_equivalence(
    *, margin: float, discordance: float, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Return the number of paired items that show two equal models to be within `margin`.

    Normal approximation for a true difference of zero: d (z_alpha + z_power')² / margin², with
    power' = (1 + power) / 2 because both one-sided tests must reject.

    Examples
    --------
    >>> [needed_n_equivalence(margin=m, discordance=0.15) for m in (0.01, 0.02, 0.05)]
    [12846, 3212, 514]
    """
    _validate(margin, max(margin, discordance), alpha, power)
    z = float(special.ndtri(1 - alpha) + special.ndtri((1 + power) / 2))
    return math.ceil(discordance * (z / margin) ** 2)


def _validate(
    effect: float, discordance: float, alpha: float, power: float = 0.8, test: str = "mcnemar"
) -> None:
    if test not in _METHOD:
        raise AnalysisError(f"unknown test '{test}'.", fix="choose mcnemar or evalue.")
    if not 0 < alpha < 1 or not 0 < power < 1:
        raise AnalysisError("alpha and power lie between 0 and 1.")
    if not 0 < discordance <= 1:
        raise AnalysisError(f"a discordance is in (0, 1], not {discordance}.")
    if not 0 < effect <= discordance:
        raise AnalysisError(
            f"an effect of {effect} is unattainable at a discordance of {discordance}.",
            fix="a difference in accuracy is at most the share of items on which models differ.",
        )
