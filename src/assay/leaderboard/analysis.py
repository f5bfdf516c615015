"""The whole analysis of a study: shards in, tables and numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from assay.core.errors import AnalysisError
from assay.core.files import write_json
from assay.leaderboard import remarks, sentences
from assay.leaderboard.accuracy import accuracy_table
from assay.leaderboard.audit import ExtractionAudit
from assay.leaderboard.band import band_table
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.discrimination import TwinCorrelations
from assay.leaderboard.findings import Further, further
from assay.leaderboard.items import fragility_table, item_table
from assay.leaderboard.load import load, missing
from assay.leaderboard.methods import methods
from assay.leaderboard.null_bands import ScopeBands, null_bands
from assay.leaderboard.null_twin import NullTwin
from assay.leaderboard.pairs import pair_table
from assay.leaderboard.ranks import Ranking, rank_table, ranking
from assay.leaderboard.sentences import Basis
from assay.leaderboard.slots import slot_table
from assay.leaderboard.statuses import status_table
from assay.leaderboard.summary import (
    Benchmark,
    Missing,
    Numbers,
    Sentence,
    Summary,
    bands_summary,
    gaps_summary,
    ranks_summary,
)
from assay.leaderboard.tables import TABLES, shaped, write_tables

#: Simulated leaderboards behind every null band: fewer where one is large, because their headlines
#: vary less and a draw takes longer.
MOST_DRAWS, FEWEST_DRAWS = 200, 40
#: Outcomes of all draws together, about.
_DRAWN = 10**10


@dataclass(frozen=True)
class Leaderboard:
    """An analysis: `summary` (the numbers and sentences) and `tables` by name."""

    summary: Summary
    tables: dict[str, pd.DataFrame]


def analyze(
    shards: Sequence[Path],
    *,
    study: str,
    alpha: float = 0.05,
    equivalence_margin: float = 0.02,
    seed: int,
    allow_missing: bool = False,
    absent: Sequence[str] = (),
    quick: bool = False,
) -> Leaderboard:
    """Analyse the shards of a study.

    Parameters
    ----------
    shards : sequence of Path
        Shard folders, one for each model and benchmark, in any order.
    study, alpha, equivalence_margin, seed, quick
        As in `analyze_correctness`.
    allow_missing : bool
        Analyse what is there although shards or observations are missing.
    absent : sequence of str
        Names of shards that were left out on purpose; naming one allows missing data.

    Returns
    -------
    Leaderboard

    Raises
    ------
    AnalysisError
        If the shards cannot be compared, data are missing and not allowed to be, or an option is
        out of range.
    RecordError
        If a shard is torn, altered or incomplete.
    """
    audit = ExtractionAudit()
    data = load(shards, allow_missing=allow_missing or bool(absent), observer=audit)
    return analyze_correctness(
        data,
        study=study,
        alpha=alpha,
        equivalence_margin=equivalence_margin,
        seed=seed,
        audit=audit,
        absent=absent,
        quick=quick,
    )


def analyze_correctness(
    data: Correctness,
    *,
    study: str,
    alpha: float = 0.05,
    equivalence_margin: float = 0.02,
    seed: int,
    audit: ExtractionAudit | None = None,
    absent: Sequence[str] = (),
    quick: bool = False,
) -> Leaderboard:
    """Analyse outcomes from anywhere: shards, released records or a plain table.

    Parameters
    ----------
    data : Correctness
    study : str
        Its name.
    alpha : float
        A verdict ("better", "tied") is wrong with at most this (false discovery) rate; intervals
        have level 1 - alpha.
    equivalence_margin : float
        Largest difference in accuracy that does not matter, as a share of items.
    seed : int
        Of the simulated twins; same seed and shards, same numbers.
    audit : ExtractionAudit, optional
        What other extractors read from the texts behind the outcomes, where there are texts.
    absent : sequence of str
        Names of what was left out on purpose.
    quick : bool
        Leave out the further findings; their tables are empty.

    Returns
    -------
    Leaderboard

    Raises
    ------
    AnalysisError
        If an option is out of range.
    """
    _validate(alpha, equivalence_margin)
    audit = audit or ExtractionAudit()
    draws = twin_draws(data.values.size)
    twins = [] if quick else _twins(data)
    watching = list(dict.fromkeys(twins))
    bands = null_bands(data, NullTwin(data, seed=seed), draws=draws, also=watching)
    rankings = [ranking(data, scope) for scope in data.scopes()]
    more = Further()
    if not quick:
        more = further(data, audit=audit, twins=twins, alpha=alpha, seed=seed)
    frames = _frames(data, audit, bands, rankings, alpha, equivalence_margin) | more.tables
    tables = {name: shaped(name, frames.get(name, pd.DataFrame())) for name in TABLES}
    found = Basis(data, tables, bands[0], rankings[0], alpha, equivalence_margin)
    summary = Summary(
        study=study,
        alpha=alpha,
        margin=equivalence_margin,
        seed=seed,
        sentences=_sentences(found, audit, absent),
        methods=methods(found, draws=draws),
        absent=list(absent),
        findings={
            scope: [Numbers.model_validate(finding.as_json()) for finding in found_there]
            for scope, found_there in more.findings.items()
        },
        **_described(data),
        **_by_scope(data, bands, rankings),
    )
    return Leaderboard(summary, tables)


def twin_draws(outcomes: int) -> int:
    """Return how many simulated leaderboards stand behind the null bands of so many outcomes."""
    return min(MOST_DRAWS, max(FEWEST_DRAWS, _DRAWN // max(outcomes, 1)))


def _twins(data: Correctness) -> list[TwinCorrelations]:
    """Return what watches the draws of a twin for each scope; one benchmark is the whole."""
    if data.whole:
        return [TwinCorrelations(data, data.scope(data.benchmarks[0]))] * 2
    return [TwinCorrelations(data, scope) for scope in data.scopes()]


def write(leaderboard: Leaderboard, folder: Path) -> list[Path]:
    """Write ``leaderboard.json`` and ``tables/``; return the paths.

    The bytes depend on the analysis only: no clock, no host, no path.
    """
    numbers = folder / "leaderboard.json"
    write_json(numbers, leaderboard.summary.model_dump(mode="json"))
    return [numbers, *write_tables(folder / "tables", leaderboard.tables)]


def _validate(alpha: float, margin: float) -> None:
    if not 0 < alpha < 0.5:
        raise AnalysisError(f"alpha lies between 0 and one half, not {alpha}.")
    if not 0 < margin < 1:
        raise AnalysisError(
            f"the equivalence margin is a share of items between 0 and 1, not {margin}.",
            fix="write two points as 0.02.",
        )


def _frames(
    data: Correctness,
    audit: ExtractionAudit,
    bands: Sequence[ScopeBands],
    rankings: Sequence[Ranking],
    alpha: float,
    margin: float,
) -> dict[str, pd.DataFrame]:
    return {
        "accuracy": accuracy_table(data, level=1 - alpha),
        "band": band_table(data, level=1 - alpha),
        "items": item_table(data),
        "item_fragility": fragility_table(data),
        "ranks": rank_table(rankings),
        "pairs": pd.concat(
            [
                pair_table(data, scope, band, alpha=alpha, margin=margin)
                for scope, band in zip(data.scopes(), bands, strict=True)
            ]
        ),
        "slots": slot_table(data),
        "extraction_audit": audit.table(),
        "statuses": status_table(data),
    }


def _described(data: Correctness) -> dict[str, Any]:
    return {
        "synthetic": data.synthetic,
        "models": list(data.models),
        "benchmarks": list(data.benchmarks),
        "configurations": [configuration.key for configuration in data.configurations],
        "reference": data.reference_configuration.key,
        "n_items": len(data.items),
        "missing": [Missing.model_validate(asdict(cells)) for cells in missing(data)],
    }


def _by_scope(
    data: Correctness, bands: Sequence[ScopeBands], rankings: Sequence[Ranking]
) -> dict[str, Any]:
    return {
        "scopes": {ranked.benchmark: _scope(data, ranked) for ranked in rankings},
        "ranks": {ranked.benchmark: ranks_summary(ranked) for ranked in rankings},
        "gaps": {band.benchmark: gaps_summary(band) for band in bands},
        "null_bands": {band.benchmark: bands_summary(band) for band in bands},
    }


def _scope(data: Correctness, ranked: Ranking) -> Benchmark:
    items = data.scope(ranked.benchmark).items
    return Benchmark(items=int(items.sum()), compared_items=ranked.items, chance=data.chance(items))


def _sentences(found: Basis, audit: ExtractionAudit, absent: Sequence[str]) -> list[Sentence]:
    texts = {
        "better": sentences.who_is_better(found),
        "dependence": sentences.what_it_depends_on(found),
        "survival": sentences.how_much_survives(found),
        "compliance": remarks.compliance(found),
        "extraction": remarks.extraction(found, audit),
        "positions": remarks.positions(found),
        "missing": remarks.missing_data(
            missing(found.correctness), absent, found.pooled("accuracy")
        ),
    }
    return [Sentence(id=key, text=text) for key, text in texts.items()]
