"""The three main sentences: who is better, what it depends on, how much survives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from assay.leaderboard.correctness import POOLED, Correctness
from assay.leaderboard.null_bands import ScopeBands
from assay.leaderboard.ranks import Ranking
from assay.leaderboard.wording import about, count, gap_interval, interval, listed, percent, points
from assay.stats import proportion_ci

#: One row of a table, by column.
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Basis:
    """What the sentences are made from; everything in the pooled scope.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        The tables of the analysis, all scopes.
    bands : ScopeBands
    ranking : Ranking
    alpha, margin : float
    """

    correctness: Correctness
    tables: Mapping[str, pd.DataFrame]
    bands: ScopeBands
    ranking: Ranking
    alpha: float
    margin: float

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return 1 - self.alpha

    def pooled(self, name: str) -> list[Row]:
        """Return the rows of table `name` over all benchmarks."""
        table = self.tables[name]
        chosen = table[table["benchmark"] == POOLED]
        columns = [chosen[column].tolist() for column in chosen]
        return [dict(zip(chosen.columns, row, strict=True)) for row in zip(*columns, strict=True)]

    @property
    def leader(self) -> str:
        """The first model of the reference leaderboard."""
        return self.correctness.models[self.bands.models[int(self.bands.parts.order[0])]]


def who_is_better(found: Basis) -> str:
    """Say which of the two leaders is better, and by how much, or that it cannot be told."""
    pairs = found.pooled("pairs")
    if not pairs:
        return _only_one(found)
    first = _first_pair(pairs, found.leader)
    opening = {"better": _better, "tied": _tied, "unresolved": _unresolved}[first["verdict"]]
    text = opening(first, found)
    text += f" Guessing gives {_chance(found)}."
    if len(pairs) == 1:
        return text
    return f"{text} Of all {len(pairs)} pairs, {listed(_verdict_counts(pairs, found))}."


def _verdict_counts(pairs: list[Row], found: Basis) -> list[str]:
    verdicts = Counter(pair["verdict"] for pair in pairs)
    endings = {
        "better": "told apart",
        "tied": f"tied within {points(found.margin)} points",
        "unresolved": "unresolved",
    }
    return [
        f"{verdicts[verdict]} {'is' if verdicts[verdict] == 1 else 'are'} {ending}"
        for verdict, ending in endings.items()
    ]


def _only_one(found: Basis) -> str:
    n, right = _at_reference(found, found.leader)
    shown = proportion_ci(right, n, level=found.level)
    return (
        f"Only {found.leader} was asked, so there is nothing to compare: it answers "
        f"{percent(float(shown.estimate))} of {count(n, 'item')} right at the reference "
        f"configuration ({interval(float(shown.low), float(shown.high), level=found.level)}). "
        f"Guessing gives {_chance(found)}."
    )


def _chance(found: Basis) -> str:
    data = found.correctness
    return percent(data.chance(data.applicable[:, data.reference]))


def _first_pair(pairs: list[Row], leader: str) -> Row:
    neighbours = [pair for pair in pairs if pair["adjacent"]]
    return next(pair for pair in neighbours if leader in (pair["better"], pair["worse"]))


def _at_reference(found: Basis, *models: str) -> tuple[int, int]:
    """Return the number of items observed for all `models` and how many the first has right."""
    data = found.correctness
    rows = [data.models.index(model) for model in models]
    both = data.present[rows][:, :, data.reference].all(axis=0)
    return int(both.sum()), int(data.right[rows[0], both, data.reference].sum())


def _standing(pair: Row, found: Basis) -> str:
    n, right = _at_reference(found, pair["better"], pair["worse"])
    if n == 0:
        return "no item was observed for both"
    other = right - pair["wrong_to_right"] + pair["right_to_wrong"]
    return f"{percent(right / n)} against {percent(other / n)} of {count(n, 'item')} right"


def _spread(pair: Row, found: Basis) -> str:
    return gap_interval(pair["low"], pair["high"], level=found.level)


def _better(pair: Row, found: Basis) -> str:
    small = ", less than the margin that matters" if pair["gap"] < found.margin else ""
    return (
        f"{pair['better']} is better than {pair['worse']} at the reference configuration: "
        f"{_standing(pair, found)}, a lead of {points(pair['gap'])} points "
        f"({_spread(pair, found)}){small}."
    )


def _tied(pair: Row, found: Basis) -> str:
    return (
        f"{pair['better']} and {pair['worse']} are tied at the reference configuration: "
        f"{_standing(pair, found)}, and a difference of {points(found.margin)} points is ruled out "
        f"(gap {points(pair['gap'])}, {_spread(pair, found)})."
    )


def _unresolved(pair: Row, found: Basis) -> str:
    text = (
        f"Whether {pair['better']} or {pair['worse']} is better at the reference configuration "
        f"cannot be told: {_standing(pair, found)}"
    )
    if np.isnan(pair["gap"]):
        return f"{text}."
    sought = max(pair["gap"], found.margin)
    text += (
        f", a gap of {points(pair['gap'])} points ({_spread(pair, found)}); about "
        f"{about(pair['needed_n'])} items would be needed to tell a gap of {points(sought)} points "
        "(80 % power)"
    )
    if pair["low"] > 0:
        text += "; the interval excludes zero, but the exact test decides, and it does not"
    return f"{text}."


def what_it_depends_on(found: Basis) -> str:
    """Say how far accuracy moves, and who leads, when only the way of asking changes."""
    ways = len(found.ranking.configurations)
    band = [row for row in found.pooled("band") if row["n"]]
    if ways < 2 or not band:
        return (
            "How much the answer depends on format, order and scoring is unknown: no item was "
            "observed under more than one configuration."
        )
    row = max(band, key=lambda row: row["max"] - row["min"])
    text = (
        f"Over {ways} configurations of format, order and scoring on the same "
        f"{count(row['n'], 'item')}, {row['model']} ranges from "
        f"{_extreme(row, 'min', found)} to {_extreme(row, 'max', found)}"
    )
    if len(band) == 1:
        return f"{text}."
    return f"{text}, the widest range of all models; {_champions(found)}."


def _extreme(row: Row, end: str, found: Basis) -> str:
    n = row["n"]
    shown = proportion_ci(round(row[end] * n), n, level=found.level)
    spread = interval(float(shown.low), float(shown.high), level=found.level)
    return f"{percent(row[end])} ({row[f'{end}_configuration']}, {spread})"


def _champions(found: Basis) -> str:
    champions = found.ranking.champions()
    number, models = len(champions), len(found.ranking.models)
    twin = found.bands.headlines["champions"]
    leads = "leads" if number == 1 else "lead"
    return (
        f"{number} of {count(models, 'model')} {leads} under at least one configuration, where "
        f"{twin.low:.0f} to {twin.high:.0f} would if every configuration moved all models alike"
    )


def how_much_survives(found: Basis) -> str:
    """Say what is right however it is asked, and what the gaps rest on."""
    row = next(row for row in found.pooled("band") if row["model"] == found.leader)
    if not row["n"]:
        return "How much survives every configuration is unknown: no item was observed under all."
    spread = interval(row["robust_low"], row["robust_high"], level=found.level)
    ways = len(found.ranking.configurations)
    text = (
        f"{found.leader} answers {percent(row['robust'])} of {count(row['n'], 'item')} right "
        f"under all {ways} configurations ({spread}), against {percent(row['reference'])} at the "
        "reference"
    )
    if len(found.bands.models) < 2:
        flips = found.bands.headlines["any_flip"]
        return f"{text}; {percent(flips.value)} of items change with the configuration."
    return f"{text}. {_gap_on_fragile_items(found)}"


def _gap_on_fragile_items(found: Basis) -> str:
    items = found.bands.headlines["fragile_item_share"]
    share = found.bands.headlines["fragile_share_of_gap"]
    opening = (
        f"Items that change with the configuration for either neighbour are "
        f"{percent(items.value)} of all"
    )
    if np.isnan(share.value):
        return f"{opening}, and there is no gap between neighbours that they could carry."
    twin = (
        f"{percent(share.twin)} (95 % of draws: {points(share.low)} to {points(share.high)} %)"
        if not np.isnan(share.twin)
        else "no gap at all"
    )
    return (
        f"{opening} and carry {percent(share.value)} of the gaps between neighbours, where "
        f"simulated models without any reaction of their own to a configuration give {twin}."
    )
