"""Every further analysis of a leaderboard, in the order a reader asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from assay.leaderboard.audit import ExtractionAudit
from assay.leaderboard.biases import label_bias, label_bias_table
from assay.leaderboard.choices_only import choices_only, choices_only_table
from assay.leaderboard.compression import compression, compression_table
from assay.leaderboard.correctness import POOLED, Correctness, Scope
from assay.leaderboard.disagreement import disagreement, flip_table, flips
from assay.leaderboard.discrimination import (
    TwinCorrelations,
    discrimination,
    discrimination_table,
)
from assay.leaderboard.effects import configuration_effects, effect_table
from assay.leaderboard.extractor_ranks import extractor_ranks
from assay.leaderboard.families import family_accuracy, family_table
from assay.leaderboard.family_pairs import family_pair_table, family_pairs
from assay.leaderboard.finding import Finding
from assay.leaderboard.label_prior import label_prior, label_prior_table
from assay.leaderboard.order_effects import order_effects, order_table
from assay.leaderboard.partial import PartialGridFinding, partial_grid, partial_grid_table
from assay.leaderboard.permutation_null import Axis, permutation_null, permutation_table
from assay.leaderboard.power_curve import power_curve, power_table
from assay.leaderboard.rank_uncertainty import (
    LeaveOutFinding,
    leave_one_benchmark_out,
    rank_probability_table,
    rank_uncertainty,
)
from assay.leaderboard.reactions import reaction_table, reactions
from assay.leaderboard.replicate import replicate, replicate_table
from assay.leaderboard.variance import variance, variance_table
from assay.leaderboard.wrappers import wrapper_table, wrappers

_AXES: tuple[Axis, ...] = ("family", "format", "order", "scoring")
#: Items that a compressed benchmark may have, as published; a quarter of all where they are few.
_COMPRESSED = 100


@dataclass(frozen=True)
class Further:
    """What the further analyses found.

    Attributes
    ----------
    findings : dict of str to list of Finding
        By scope.
    tables : dict of str to DataFrame
        All scopes together.
    """

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class _Run:
    """One scope of one study, and what its analyses share."""

    data: Correctness
    scope: Scope
    audit: ExtractionAudit
    twin: TwinCorrelations
    alpha: float
    seed: int

    @property
    def level(self) -> float:
        return 1 - self.alpha


#: A finding with the name and the rows of its table, if it has one.
_Found = tuple[Finding, str, pd.DataFrame | None]


def further(
    data: Correctness,
    *,
    audit: ExtractionAudit,
    twins: Sequence[TwinCorrelations],
    alpha: float,
    seed: int,
) -> Further:
    """Run every analysis on every scope.

    A single benchmark is the whole: its findings are those of all items, under its name.

    Parameters
    ----------
    audit : ExtractionAudit
        Filled while the shards were read; empty where there are no texts.
    twins : sequence of TwinCorrelations
        Of each scope.
    """
    findings: dict[str, list[Finding]] = {}
    rows: dict[str, list[pd.DataFrame]] = {}
    whole: list[_Found] = []
    for scope, twin in zip(data.scopes(), twins, strict=True):
        run = _Run(data, scope, audit, twin, alpha, seed)
        if data.whole and whole:
            found = _renamed(whole, scope.benchmark)
        else:
            found = list(_all(run))
        whole = whole or found
        for finding, name, table in found:
            findings.setdefault(scope.benchmark, []).append(finding)
            if table is not None:
                rows.setdefault(name, []).append(table)
    return Further(findings, {name: pd.concat(frames) for name, frames in rows.items()})


def _renamed(whole: list[_Found], benchmark: str) -> list[_Found]:
    """Return what was found for all items as the findings of the one benchmark that there is."""
    return [
        (
            replace(finding, benchmark=benchmark),
            name,
            None if table is None else table.assign(benchmark=benchmark),
        )
        for finding, name, table in whole
        if not isinstance(finding, LeaveOutFinding | PartialGridFinding)
    ]


def _all(run: _Run) -> Iterator[_Found]:
    for part in (_ranking, _ways_of_asking, _beside, _items):
        yield from part(run)


def _ranking(run: _Run) -> Iterator[_Found]:
    ranks = rank_uncertainty(run.data, run.scope, level=run.level, seed=run.seed)
    yield ranks, "rank_probability", rank_probability_table(ranks)
    pairs = family_pairs(run.data, run.scope, alpha=run.alpha)
    yield pairs, "family_pairs", family_pair_table(pairs)
    shows = power_curve(run.data, run.scope, alpha=run.alpha)
    yield shows, "power", power_table(shows)
    if run.scope.benchmark == POOLED:
        yield leave_one_benchmark_out(run.data), "", None
    yield extractor_ranks(run.data, run.scope, audit=run.audit), "", None


def _ways_of_asking(run: _Run) -> Iterator[_Found]:
    accuracy = family_accuracy(run.data, run.scope, level=run.level)
    yield accuracy, "families", family_table(accuracy)
    effects = configuration_effects(run.data, run.scope, alpha=run.alpha)
    yield effects, "effects", effect_table(effects)
    orders = order_effects(run.data, run.scope, alpha=run.alpha)
    yield orders, "order_effects", order_table(orders)
    own = reactions(run.data, run.scope, alpha=run.alpha)
    yield own, "reactions", reaction_table(own)
    for axis in _AXES:
        null = permutation_null(run.data, run.scope, axis=axis, seed=run.seed)
        yield null, "permutations", permutation_table(null)
    bias = label_bias(run.data, run.scope, alpha=run.alpha, seed=run.seed)
    yield bias, "label_bias", label_bias_table(bias)
    matched = run.data.apart.matched
    compliance = wrappers(run.data, run.scope, matched=matched, level=run.level)
    yield compliance, "wrappers", wrapper_table(compliance)


def _beside(run: _Run) -> Iterator[_Found]:
    """Yield what only some grids ask: a replicate, a control, the probabilities of labels."""
    apart = run.data.apart
    if apart.again is not None:
        noise = replicate(run.data, run.scope, again=apart.again, alpha=run.alpha)
        yield noise, "replicate", replicate_table(noise)
    if apart.controls:
        control = choices_only(run.data, run.scope, alpha=run.alpha, level=run.level)
        yield control, "choices_only", choices_only_table(control)
    if apart.labels:
        prior = label_prior(run.data, run.scope)
        yield prior, "label_prior", label_prior_table(prior)


def _items(run: _Run) -> Iterator[_Found]:
    turned = flips(run.data, run.scope)
    yield turned, "flips", flip_table(turned)
    yield disagreement(run.data, run.scope, level=run.level), "", None
    parts = variance(run.data, run.scope, level=run.level, seed=run.seed)
    yield parts, "variance", variance_table(parts)
    power = discrimination(run.data, run.scope, level=run.level, twin=run.twin, seed=run.seed)
    yield power, "discrimination", discrimination_table(run.data, run.scope)
    k = max(1, min(_COMPRESSED, int(run.scope.items.sum()) // 4))
    short = compression(run.data, run.scope, k=k, seed=run.seed)
    yield short, "compression", compression_table(short)
    if run.scope.benchmark == POOLED:
        # A question of design, and the one analysis that takes longer than all others.
        grid = partial_grid(run.data, run.scope, seed=run.seed)
        yield grid, "partial_grid", partial_grid_table(grid)
