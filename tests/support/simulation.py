"""Measured error rates: many simulated data sets through one verdict, and the naive rule beside it.

A `Path` is one row of the calibration suite: the rules that decide, the naive rules in common use,
and scenarios in which the truth is known. A scenario is a null (every claim is wrong: the rate must
not be credibly above alpha) or states the power that a rule must reach.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from assay.stats import PairedCounts

#: Runs of the fast and of the slow tier.
FAST, SLOW = 300, 2000
#: A rate is credibly above (below) what was promised if data so extreme have this probability or
#: less. At alpha .05 that is 26 of 300 wrong verdicts, or 127 of 2,000.
CREDIBLE = 0.005
#: Runs that are simulated at a time: bounds the memory.
_BLOCK = 100

#: Rule → share of a run's claims that are wrong (null) or found (power), shape (run,); for a
#: single verdict 0 or 1.
Outcomes = Mapping[str, ArrayLike]
Simulate = Callable[[np.random.Generator, int], Outcomes]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rule:
    """A rule that turns data into a claim.

    Attributes
    ----------
    name, calls : str
        As the table says it; and the functions that it calls, or what is wrong with it.
    alpha : float
        The promised rate of wrong claims.
    naive : bool
        In common use and shown for comparison: no rate is asked of it.
    """

    name: str
    calls: str
    alpha: float = 0.05
    naive: bool = False


@dataclass(frozen=True)
class Scenario:
    """Data whose truth is known.

    Attributes
    ----------
    setting : str
    n : str
        The size, as the table says it.
    simulate : callable
        ``(rng, runs)`` → outcome of each rule in each run.
    floors : dict
        Rule → power that it must reach. Empty: a null.
    slow : bool
        Whether the fast tier leaves it out.
    """

    setting: str
    n: str
    simulate: Simulate
    floors: Mapping[str, float] = field(default_factory=dict)
    slow: bool = False

    @property
    def null(self) -> bool:
        """Whether every claim is wrong."""
        return not self.floors


@dataclass(frozen=True)
class Path:
    """One row of the calibration suite.

    Attributes
    ----------
    name, question : str
        `question` says what is claimed and what counts as wrong.
    product : str
        Which code decides today: a product path, or the statistical rule only.
    rules : tuple of Rule
    scenarios : tuple of Scenario
    """

    name: str
    question: str
    product: str
    rules: tuple[Rule, ...]
    scenarios: tuple[Scenario, ...]


@dataclass(frozen=True)
class Rate:
    """How often one rule made its claim.

    Attributes
    ----------
    hits : float
        Sum of the runs' outcomes: whole where each run has one verdict.
    runs : int
    promised : float
        Alpha under a null, else the stated power; NaN for a naive rule's power.
    null : bool
    """

    hits: float
    runs: int
    promised: float
    null: bool

    @property
    def value(self) -> float:
        return self.hits / self.runs

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson 95 % interval of the simulation (conservative where outcomes are shares)."""
        interval = stats.binomtest(round(self.hits), self.runs).proportion_ci(method="wilson")
        return float(interval.low), float(interval.high)

    @property
    def broken(self) -> bool:
        """Whether the rate is credibly worse than promised.

        A mean of shares in [0, 1] is less variable than a mean of zeros and ones with the same
        expectation, so that the binomial bound also holds for false discovery proportions.
        """
        if np.isnan(self.promised):
            return False
        if self.null:
            return bool(self.hits >= too_many(self.runs, self.promised))
        return bool(stats.binom.cdf(np.ceil(self.hits), self.runs, self.promised) <= CREDIBLE)


def too_many(runs: int, alpha: float) -> int:
    """Return the fewest wrong verdicts that credibly exceed `alpha`."""
    return int(stats.binom.isf(CREDIBLE, runs, alpha)) + 1


def measure(path: Path, scenario: Scenario, runs: int) -> dict[str, Rate]:
    """Return each rule's rate; the same for the same number of runs, whatever else is run."""
    key = crc32(f"{path.name}|{scenario.setting}|{scenario.n}|{scenario.null}".encode())
    rng = np.random.default_rng(key)
    hits: dict[str, float] = {}
    for start in range(0, runs, _BLOCK):
        block = min(_BLOCK, runs - start)
        with warnings.catch_warnings():
            # Degenerate data are part of the simulation, and what is undefined is no claim.
            warnings.simplefilter("ignore", RuntimeWarning)
            outcomes = scenario.simulate(rng, block)
        for name, outcome in outcomes.items():
            values = np.asarray(outcome, float)
            assert values.shape == (block,), f"{name}: {values.shape}"
            assert np.all((values >= 0) & (values <= 1)), name
            hits[name] = hits.get(name, 0.0) + float(values.sum())
    rules = {rule.name: rule for rule in path.rules}
    promised = {
        name: rules[name].alpha if scenario.null else scenario.floors.get(name, np.nan)
        for name in hits
    }
    return {
        rule.name: Rate(hits[rule.name], runs, promised[rule.name], scenario.null)
        for rule in path.rules
        if rule.name in hits
    }


# Paired binary data. A cell says who was right on an item.
BOTH, B_ONLY, A_ONLY, NEITHER = range(4)


def shares(accuracy: float, discordance: float, effect: float = 0.0) -> Floats:
    """Return the probabilities of the four cells.

    `accuracy` is the mean of the two models', `effect` B's accuracy minus A's.
    """
    both = accuracy - discordance / 2
    cells = np.array(
        [both, (discordance + effect) / 2, (discordance - effect) / 2, 1 - both - discordance]
    )
    assert np.all(cells >= -1e-12), cells
    return np.clip(cells, 0, 1)


def draw_counts(rng: np.random.Generator, runs: int, n: int, cells: Floats) -> PairedCounts:
    """Draw the 2 x 2 tables of `n` independent items, shape (run,)."""
    return PairedCounts(*rng.multinomial(n, cells, size=runs).T)


def draw_cells(
    rng: np.random.Generator, runs: int, sizes: Sequence[int], cells: Floats, correlation: float
) -> NDArray[np.int8]:
    """Draw cells of clustered items, shape (run, item).

    An item takes its cluster's cell with probability sqrt(correlation) and its own otherwise: the
    marginal shares are `cells`, and any function of the cell has this intra-cluster correlation.
    """
    edges = np.cumsum(cells)[:-1]
    total, clusters = int(np.sum(sizes)), len(sizes)
    own = np.searchsorted(edges, rng.random((runs, total)), side="right").astype(np.int8)
    common = np.searchsorted(edges, rng.random((runs, clusters)), side="right").astype(np.int8)
    alike = rng.random((runs, total)) < np.sqrt(correlation)
    return np.where(alike, np.repeat(common, sizes, axis=1), own)


def count_cells(cells: NDArray[np.int8]) -> PairedCounts:
    """Count cells along the last axis."""
    return PairedCounts(*(np.sum(cells == cell, axis=-1) for cell in range(4)))


def differences(cells: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return B's outcome minus A's, of the shape of `cells`."""
    return np.array([0, 1, -1, 0], np.int8)[cells]


# Naive rules in common use.


def unpaired_z(counts: PairedCounts) -> Floats:
    """Return z of the difference in accuracy with the standard error of two separate samples."""
    n = counts.n
    a, b = (counts.both + counts.c) / n, (counts.both + counts.b) / n
    error = np.sqrt((a * (1 - a) + b * (1 - b)) / n)
    return _ratio(b - a, error)


def wald_z(counts: PairedCounts) -> Floats:
    """Return z of the paired difference over its estimated standard error."""
    n, gap = counts.n, (counts.b - counts.c) / counts.n
    error = np.sqrt(np.maximum((counts.b + counts.c) / n - gap**2, 0) / n)
    return _ratio(gap, error)


def percentile_bootstrap(
    rng: np.random.Generator, counts: PairedCounts, *, draws: int = 500, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the percentile interval of the paired difference, items resampled."""
    n = int(np.max(counts.n))
    cells = np.stack([counts.b, counts.c, n - counts.b - counts.c], axis=-1) / n
    b, c, _ = np.moveaxis(rng.multinomial(n, cells, size=(draws, len(cells))), -1, 0)
    tail = 100 * (1 - level) / 2
    low, high = np.percentile((b - c) / n, (tail, 100 - tail), axis=0)
    return low, high


def _ratio(value: Floats, error: Floats) -> Floats:
    """Divide; an error of zero makes any difference certain, as the naive rule has it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(value == 0, 0.0, value / error)


def reference_outcomes(
    rng: np.random.Generator, runs: int, theta: Sequence[float], items: int
) -> NDArray[np.bool_]:
    """Draw generator G (`support.twin`) at the reference configuration alone.

    Shape (run, model, item); each run draws its own items.
    """
    difficulty = rng.normal(0, 1.5, (runs, 1, items))
    noise = rng.standard_normal((runs, len(theta), items), np.float32) * np.hypot(0.6, 0.6)
    return np.asarray(np.asarray(theta)[:, None] - difficulty + noise > 0)
