"""The numbers of an analysis as JSON, and their schema."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from assay.leaderboard.null_bands import ScopeBands
from assay.leaderboard.ranks import Ranking

SCHEMA_VERSION = 1


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Sentence(_Frozen):
    """One plain reading of the results."""

    id: str
    text: str


class Benchmark(_Frozen):
    """What one scope rests on."""

    items: int
    compared_items: int = Field(
        description="observed for every model under every configuration; ranks rest on these"
    )
    chance: float = Field(description="expected accuracy of guessing, mean(1 / options)")


class Missing(_Frozen):
    """Observations that a complete study would have."""

    model: str
    benchmark: str
    configuration: str | None = Field(description="null: the whole shard is absent")
    status: str
    n: int


class Band(_Frozen):
    """A headline beside that of simulated models without a reaction of their own."""

    value: float | None
    twin: float | None = Field(description="mean over simulated leaderboards")
    low: float | None = Field(description="2.5 % of simulated leaderboards lie below")
    high: float | None = Field(description="2.5 % of simulated leaderboards lie above")


class Move(_Frozen):
    """The model with the widest range of ranks."""

    model: str
    best: int
    worst: int


class Ranks(_Frozen):
    """Ranks under the configurations of one scope."""

    champions: dict[str, int] = Field(description="model → configurations that it leads")
    largest_move: Move | None
    configurations: list[str]
    tau: list[list[float | None]] = Field(
        description="Kendall tau-b between configurations; null where undefined"
    )
    smallest_tau: float | None
    concordance: float | None = Field(description="Kendall W")


class Gaps(_Frozen):
    """The gaps between neighbours on the reference leaderboard of one scope."""

    pairs: int
    nonzero: int
    pooled_fragile_share: float | None
    mean_fragile_share: float | None = Field(description="over gaps that are not zero")
    fragile_item_share: float | None


class Numbers(BaseModel):
    """A further finding: its reading, and numbers that depend on its name."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str
    benchmark: str
    reading: str


class Summary(_Frozen):
    """Everything in an analysis that is not a table.

    Mappings by scope have "all" (every item of every benchmark, counted once) and each benchmark.
    """

    schema_version: int = SCHEMA_VERSION
    study: str
    synthetic: bool = Field(description="true: simulated data, no language model was asked")
    models: list[str]
    benchmarks: list[str]
    configurations: list[str]
    reference: str
    alpha: float
    margin: float = Field(description="equivalence margin as a share of items")
    seed: int
    n_items: int
    sentences: list[Sentence] = Field(description="the first three are the main ones")
    methods: list[Sentence]
    absent: list[str] = Field(description="shards that were left out on purpose")
    missing: list[Missing]
    scopes: dict[str, Benchmark]
    ranks: dict[str, Ranks]
    gaps: dict[str, Gaps]
    null_bands: dict[str, dict[str, Band]]
    findings: dict[str, list[Numbers]]


def leaderboard_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``leaderboard.json``."""
    return Summary.model_json_schema()


def known(value: float) -> float | None:
    """Return a number for JSON, which has no NaN: an undefined one is null."""
    return None if math.isnan(value) else float(value)


def ranks_summary(ranked: Ranking) -> Ranks:
    """Summarise the ranks of one scope."""
    tau = ranked.agreement()
    move = ranked.largest_move() if ranked.items else None
    return Ranks(
        champions=ranked.champions() if ranked.items else {},
        largest_move=None if move is None else Move(model=move[0], best=move[1], worst=move[2]),
        configurations=list(ranked.configurations),
        tau=[[known(value) for value in row] for row in tau],
        smallest_tau=_smallest(tau),
        concordance=known(ranked.concordance()),
    )


def _smallest(tau: NDArray[np.float64]) -> float | None:
    values = tau[np.triu_indices_from(tau, 1)]
    values = values[~np.isnan(values)]
    return float(values.min()) if values.size else None


def gaps_summary(bands: ScopeBands) -> Gaps:
    """Summarise the decomposition of the gaps of one scope."""
    parts = bands.parts
    return Gaps(
        pairs=parts.gap.size,
        nonzero=int((parts.gap > 0).sum()),
        pooled_fragile_share=known(parts.pooled),
        mean_fragile_share=known(parts.mean_of_shares),
        fragile_item_share=known(bands.headlines["fragile_item_share"].value),
    )


def bands_summary(bands: ScopeBands) -> dict[str, Band]:
    """Return the headlines of one scope beside their null bands."""
    return {
        name: Band(
            value=known(band.value),
            twin=known(band.twin),
            low=known(band.low),
            high=known(band.high),
        )
        for name, band in bands.headlines.items()
    }
