"""Every pair of models at the reference configuration: better, tied, or not to be told."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.cube import cut
from assay.leaderboard.items import ItemClasses
from assay.leaderboard.null_bands import ScopeBands
from assay.stats import (
    PairedCounts,
    adjust_p,
    ebh,
    equivalence,
    mcnemar_exact,
    needed_n,
    paired_difference,
    paired_evalue,
    strictest_level,
)

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Tables:
    """Counts of every pair (a, b) of models over the items observed for both.

    Attributes
    ----------
    n, both : ndarray of int, shape (model, model)
    wins : ndarray of int
        a right and b wrong.
    fragile, fragile_wins : ndarray of int
        Items that are fragile for either, and a's wins among them.
    """

    n: Ints
    both: Ints
    wins: Ints
    fragile: Ints
    fragile_wins: Ints


def pair_table(
    correctness: Correctness, scope: Scope, bands: ScopeBands, *, alpha: float, margin: float
) -> pd.DataFrame:
    """Return one row for each pair of models that were observed in `scope`.

    `better` is the model with the higher accuracy at the reference on the items observed for
    both (of equals the one listed first); the interval is Tango's for its lead at level
    1 - alpha. The family that p-values are adjusted over (Benjamini-Yekutieli) is all pairs of
    the scope. Verdicts:

    better
        Adjusted p of exact McNemar at most alpha.
    tied
        Adjusted p of the equivalence test at most alpha: the gap is smaller than `margin`.
    unresolved
        Neither. `needed_n` items would find a gap as large as the one seen, and at least
        `margin`, with 80 % power, at the strictest level the adjustment can ask for.

    `log_e` is the evidence of a difference that stays valid whenever one stops collecting, and
    `e_level` the smallest alpha at which e-BH over all pairs would call it one.

    `fragile_share_of_gap` is NaN where the gap is zero, `twin_fragile_share` where the pair are
    not neighbours on the reference leaderboard or the twin has no gap. For neighbours, `robust_gap`
    is the gap on the `robust_items`, those that are robust for every other model: chosen on the
    pair's own outcomes, the gap on robust items says nothing. Both are descriptive.
    """
    kept = np.array(bands.models)
    tables = _count(correctness, scope, kept)
    place = np.empty(kept.size, np.intp)
    place[bands.parts.order] = np.arange(kept.size)
    first, second = _orient(tables, place)
    names = np.array(correctness.models)[kept]
    frame = pd.DataFrame(
        {
            "benchmark": scope.benchmark,
            "better": names[first],
            "worse": names[second],
            "adjacent": place[second] - place[first] == 1,
        }
    )
    frame = frame.assign(**_compare(tables, first, second, alpha, margin))
    frame["margin"] = margin
    shares = np.full(len(frame), np.nan)
    adjacent = frame["adjacent"].to_numpy()
    shares[adjacent] = np.array(bands.pair_shares)[place[first[adjacent]]]
    robust_items, robust_gap = _on_robust_items(
        correctness, scope, kept, first[adjacent], second[adjacent]
    )
    return frame.assign(
        **_split(tables, first, second),
        twin_fragile_share=shares,
        robust_items=_spread(robust_items, adjacent),
        robust_gap=_spread(robust_gap, adjacent),
    )


def _spread(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return `values` at the places of `chosen`, NaN elsewhere."""
    spread = np.full(chosen.size, np.nan)
    spread[chosen] = values
    return spread


def _on_robust_items(
    correctness: Correctness,
    scope: Scope,
    kept: NDArray[np.intp],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return number of items and gap of each pair, on items robust for all other models."""
    places = kept, np.flatnonzero(scope.items), correctness.offered(scope)
    classes = ItemClasses.of(cut(correctness.present, *places), cut(correctness.right, *places))
    at = np.ix_(kept, np.flatnonzero(scope.items))
    present = correctness.present[..., correctness.reference][at]
    right = correctness.right[..., correctness.reference][at].astype(np.int8)
    robust = classes.judged & ~classes.fragile
    others = len(kept) - 2
    counts, gaps = np.full(first.size, np.nan), np.full(first.size, np.nan)
    for k, (a, b) in enumerate(zip(first, second, strict=True)) if others > 0 else ():
        chosen = robust.sum(axis=0) - robust[a].astype(int) - robust[b] == others
        chosen &= present[a] & present[b]
        counts[k] = chosen.sum()
        if counts[k]:
            gaps[k] = (right[a, chosen] - right[b, chosen]).mean()
    return counts, gaps


def _count(correctness: Correctness, scope: Scope, kept: NDArray[np.intp]) -> _Tables:
    cells = np.ix_(kept, np.flatnonzero(scope.items))
    present = correctness.present[..., correctness.reference][cells]
    right = correctness.right[..., correctness.reference][cells]
    places = kept, np.flatnonzero(scope.items), correctness.offered(scope)
    classes = ItemClasses.of(cut(correctness.present, *places), cut(correctness.right, *places))
    p, y, f = (x.astype(np.float64) for x in (present, right, classes.fragile & present))
    wrong = p - y
    # Inclusion and exclusion: "fragile for a or b" as a sum of products.
    fragile_wins = (y * f) @ wrong.T + y @ (wrong * f).T - (y * f) @ (wrong * f).T
    fragile = f @ p.T + p @ f.T - f @ f.T
    return _Tables(
        *(
            np.rint(x).astype(np.int64)
            for x in (p @ p.T, y @ y.T, y @ wrong.T, fragile, fragile_wins)
        )
    )


def _orient(tables: _Tables, place: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the better and the worse model of each pair, in the order of the leaderboard."""
    order = np.argsort(place)
    upper, lower = np.triu_indices(order.size, 1)
    first, second = order[upper], order[lower]
    swap = tables.wins[first, second] < tables.wins[second, first]
    return np.where(swap, second, first), np.where(swap, first, second)


def _compare(
    tables: _Tables, first: NDArray[np.intp], second: NDArray[np.intp], alpha: float, margin: float
) -> dict[str, NDArray[Any]]:
    n, both = tables.n[first, second], tables.both[first, second]
    b, c = tables.wins[first, second], tables.wins[second, first]
    counts = PairedCounts(both=both, b=b, c=c, neither=n - both - b - c)
    interval = paired_difference(counts, level=1 - alpha)
    judged = judge(counts, alpha=alpha, margin=margin)
    evidence = np.where(n > 0, np.asarray(paired_evalue(b, c).log_e), np.nan)
    level = strictest_level(alpha, judged.family)
    needed = [
        _needed(int(gained), int(lost), int(items), margin, level)
        if verdict == "unresolved"
        else np.nan
        for verdict, gained, lost, items in zip(judged.verdict, b, c, n, strict=True)
    ]
    return {
        "n": n,
        "gap": np.asarray(interval.estimate),
        "low": np.asarray(interval.low),
        "high": np.asarray(interval.high),
        "wrong_to_right": b,
        "right_to_wrong": c,
        "p_value": judged.p_value,
        "p_adjusted": judged.p_adjusted,
        "log_e": evidence,
        "e_level": ebh(evidence, alpha=alpha).levels,
        "verdict": judged.verdict,
        "needed_n": np.array(needed, float),
    }


@dataclass(frozen=True)
class Judged:
    """The verdicts on one family of pairs.

    Attributes
    ----------
    p_value, p_adjusted : ndarray of float, shape (pair,)
        Exact McNemar, and adjusted over the family.
    verdict : ndarray of str, shape (pair,)
        "better", "tied" or "unresolved".
    family : int
        Pairs that could be tested.
    """

    p_value: NDArray[np.float64]
    p_adjusted: NDArray[np.float64]
    verdict: NDArray[np.str_]
    family: int


def judge(counts: PairedCounts, *, alpha: float, margin: float) -> Judged:
    """Judge one family of pairs; see `pair_table` for the verdicts.

    Both kinds of claim are adjusted over all pairs, so that of the pairs called better, and of
    those called tied, at most a share alpha is expected to be wrong.
    """
    test = mcnemar_exact(counts)
    adjusted = adjust_p(test.p_value)
    tie = adjust_p(equivalence(counts, margin=margin, alpha=alpha).p_value)
    better, tied = adjusted.p_values <= alpha, tie.p_values <= alpha
    return Judged(
        p_value=np.asarray(test.p_value),
        p_adjusted=adjusted.p_values,
        verdict=np.where(better, "better", np.where(tied, "tied", "unresolved")),
        family=adjusted.family,
    )


def _needed(b: int, c: int, n: int, margin: float, level: float) -> float:
    if n == 0:
        return float("nan")
    # Rounded to the safe side, so that a large leaderboard asks for few different designs.
    effect = max(margin, np.floor(1000 * abs(b - c) / n) / 1000)
    # Half a discordant item is added: none among a few items does not mean none at all.
    discordance = np.ceil(100 * (b + c + 0.5) / (n + 1)) / 100
    return _design(round(effect, 6), round(float(np.clip(discordance, effect, 1)), 6), level)


@lru_cache(maxsize=100_000)
def _design(effect: float, discordance: float, level: float) -> float:
    return float(needed_n(effect=effect, discordance=discordance, alpha=level).n)


def _split(
    tables: _Tables, first: NDArray[np.intp], second: NDArray[np.intp]
) -> dict[str, NDArray[np.float64]]:
    n = np.where(tables.n > 0, tables.n, np.nan)[first, second]
    gap = tables.wins[first, second] - tables.wins[second, first]
    fragile = tables.fragile_wins[first, second] - tables.fragile_wins[second, first]
    return {
        "gap_fragile": fragile / n,
        "gap_robust": (gap - fragile) / n,
        "fragile_share_of_gap": fragile / np.where(gap > 0, gap, np.nan),
        "fragile_item_share": tables.fragile[first, second] / n,
    }
