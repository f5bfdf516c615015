"""Which per-case signals go with failure?"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

from assay.stats import adjust_p, fisher_exact, mann_whitney
from assay.stats.permutation import permutation_test
from support import simulation as sim

RULES = (
    sim.Rule("Mann-Whitney, BY", "`mann_whitney`, `adjust_p`; restatements of the label set apart"),
    sim.Rule("Fisher, BY", "binary signals: `fisher_exact`, `adjust_p`"),
    sim.Rule("stratified permutation, BY", "`permutation_test` within strata, `adjust_p`"),
    sim.Rule("percentile bootstrap", "interval of two failure rates excludes 0", naive=True),
    sim.Rule("uncorrected", "each signal at p ≤ .05, strata ignored", naive=True),
)
#: A signal that ranks failures above passes this often, or this seldom, restates the label.
RESTATES = 0.95
#: With five signals BY may ask for p = .0044; so many draws reach .002.
DRAWS = 999


def continuous(
    rng: np.random.Generator,
    runs: int,
    *,
    fails: int,
    passes: int,
    signals: int,
    levels: int = 0,
    area: float = 0.5,
) -> sim.Outcomes:
    """Draw correlated signals, the first with this area under the ROC curve.

    `levels` rounds them to so many values, so that there are ties.
    """
    shift = np.sqrt(2) * stats.norm.ppf(area)
    corrected, alone = np.empty(runs, bool), np.empty(runs, bool)
    for run in range(runs):
        n = fails + passes
        values = 0.6 * rng.standard_normal((n, 1)) + 0.8 * rng.standard_normal((n, signals))
        values[:fails, 0] += shift
        if levels:
            values = np.floor(levels * stats.norm.cdf(values))
        tests = [mann_whitney(column[:fails], column[fails:]) for column in values.T]
        claims, raw = _claims(tests)
        wanted = slice(0, 1) if area != 0.5 else slice(None)
        corrected[run], alone[run] = claims[wanted].any(), raw[wanted].any()
    return {"Mann-Whitney, BY": corrected, "uncorrected": alone}


def leaked(
    rng: np.random.Generator, runs: int, *, fails: int, passes: int, noise: float
) -> sim.Outcomes:
    """Draw one signal that is the label itself, but for a share of errors; others are noise."""
    corrected, alone = np.empty(runs, bool), np.empty(runs, bool)
    label = np.arange(fails + passes) < fails
    for run in range(runs):
        values = rng.standard_normal((label.size, 10))
        values[:, 0] = label ^ (rng.random(label.size) < noise)
        tests = [mann_whitney(column[label], column[~label]) for column in values.T]
        claims, raw = _claims(tests)
        corrected[run], alone[run] = claims.any(), raw.any()
    return {"Mann-Whitney, BY": corrected, "uncorrected": alone}


def _claims(tests: list) -> tuple[np.ndarray, np.ndarray]:
    p_values = np.array([test.p_value for test in tests])
    area = np.array([test.statistic for test in tests])
    kept = np.where(np.maximum(area, 1 - area) >= RESTATES, np.nan, p_values)
    return adjust_p(kept).p_values <= 0.05, p_values <= 0.05


def binary(
    rng: np.random.Generator,
    runs: int,
    *,
    present: int,
    absent: int,
    rate: float,
    signals: int = 1,
    gain: float = 0.0,
) -> sim.Outcomes:
    """Draw failures among the cases with and without a signal."""
    shape = (runs, signals)
    with_it = rng.binomial(present, rate + gain, shape)
    without = rng.binomial(absent, rate, shape)
    p_values = np.array(
        [
            [
                fisher_exact([[a, present - a], [b, absent - b]]).p_value
                for a, b in zip(*pair, strict=True)
            ]
            for pair in zip(with_it, without, strict=True)
        ]
    )
    drawn = (
        rng.binomial(present, with_it / present, (500, *shape)) / present
        - rng.binomial(absent, without / absent, (500, *shape)) / absent
    )
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    return {
        "Fisher, BY": np.any([adjust_p(row).p_values <= 0.05 for row in p_values], axis=1),
        "percentile bootstrap": ((low > 0) | (high < 0)).any(axis=1),
        "uncorrected": (p_values <= 0.05).any(axis=1),
    }


def confounded(
    rng: np.random.Generator, runs: int, *, n: int, signals: int, area: float = 0.5
) -> sim.Outcomes:
    """Draw cases of two kinds; one kind fails more often and has higher signals.

    Within a kind only the first signal has to do with failure, and only under an alternative.
    """
    shift = np.sqrt(2) * stats.norm.ppf(area)
    corrected, alone = np.empty(runs, bool), np.empty(runs, bool)
    kind = np.arange(n) < n // 2
    for run in range(runs):
        fail = rng.random(n) < np.where(kind, 0.6, 0.2)
        values = rng.standard_normal((n, signals)) + kind[:, None]
        values[fail, 0] += shift
        inside = np.stack([_ranks_within(column, kind) for column in values.T], axis=1)
        p_values = _stratified(inside, fail, kind, seed=run)
        raw = stats.mannwhitneyu(values[fail], values[~fail], method="asymptotic").pvalue
        wanted = slice(0, 1) if area != 0.5 else slice(None)
        corrected[run] = (adjust_p(p_values).p_values <= 0.05)[wanted].any()
        alone[run] = (raw <= 0.05)[wanted].any()
    return {"stratified permutation, BY": corrected, "uncorrected": alone}


def _ranks_within(values: np.ndarray, kind: np.ndarray) -> np.ndarray:
    ranks = np.empty(values.size)
    for part in (kind, ~kind):
        ranks[part] = stats.rankdata(values[part]) - (part.sum() + 1) / 2
    return ranks


def _stratified(inside: np.ndarray, fail: np.ndarray, kind: np.ndarray, seed: int) -> np.ndarray:
    """Permute the label within each kind; the statistic is the failures' rank sum within kinds."""
    first, second = np.flatnonzero(kind), np.flatnonzero(~kind)

    def permute(rng: np.random.Generator) -> np.ndarray:
        shuffled = np.empty_like(fail)
        shuffled[first] = fail[rng.permutation(first)]
        shuffled[second] = fail[rng.permutation(second)]
        return shuffled

    found = permutation_test(
        lambda label: label @ inside,
        permute,
        observed=fail @ inside,
        draws=DRAWS,
        seed=seed,
        alternative="two-sided",
    )
    return np.asarray(found.p_value)


PATH = sim.Path(
    name="Signal",
    question=(
        "Claimed: a signal goes with failure. Wrong when none does (any claim), when it only does "
        "through another property of the case, or when the signal is the label itself."
    ),
    product="statistical rule only: `assay.stats` composed as the evidence stage will",
    rules=RULES,
    scenarios=(
        sim.Scenario(
            "30 signals, balanced", "100 + 100",
            partial(continuous, fails=100, passes=100, signals=30),
        ),
        sim.Scenario(
            "30 signals, few failures", "6 + 54",
            partial(continuous, fails=6, passes=54, signals=30),
        ),
        sim.Scenario(
            "30 signals with 3 values", "40 + 160",
            partial(continuous, fails=40, passes=160, signals=30, levels=3),
        ),
        sim.Scenario(
            "1 signal", "3 + 15", partial(continuous, fails=3, passes=15, signals=1)
        ),
        *(
            sim.Scenario(
                f"1 binary signal, failure rate {rate:g}", f"{a} + {b}",
                partial(binary, present=a, absent=b, rate=rate),
            )
            for a, b, rate in (
                (10, 100, 0.07), (3, 30, 0.1), (3, 15, 0.3), (5, 5, 0.5), (20, 20, 0.5),
            )
        ),
        sim.Scenario(
            "10 binary signals, failure rate 0.2", "20 + 100",
            partial(binary, present=20, absent=100, rate=0.2, signals=10),
        ),
        sim.Scenario("5 signals, confounded", "120", partial(confounded, n=120, signals=5)),
        sim.Scenario(
            "one of 10 signals is the label, 2 % wrong", "100 + 100",
            partial(leaked, fails=100, passes=100, noise=0.02),
        ),
        *(
            sim.Scenario(
                f"one of {signals} signals with AUC .7", f"{fails} + {passes}",
                partial(continuous, fails=fails, passes=passes, signals=signals, area=0.7),
                {"Mann-Whitney, BY": floor},
            )
            for signals, fails, passes, floor in ((5, 15, 45, 0.2), (30, 60, 140, 0.8))
        ),
        sim.Scenario(
            "one of 5 signals with AUC .7, confounded", "200",
            partial(confounded, n=200, signals=5, area=0.7), {"stratified permutation, BY": 0.85},
        ),
        sim.Scenario(
            "1 binary signal, failure rate 0.2 → 0.5", "50 + 150",
            partial(binary, present=50, absent=150, rate=0.2, gain=0.3), {"Fisher, BY": 0.9},
        ),
    ),
)  # fmt: skip
