"""`assay analyze`: the leaderboard analysis of outcomes from anywhere, without a workflow."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import AnalysisError
from assay.leaderboard import Leaderboard, analyze, analyze_correctness
from assay.leaderboard.load_released import LEGEND, RECORDS, load_released
from assay.leaderboard.load_table import load_table
from assay.records.shard import RECORDS as SHARD_RECORDS

_WIDTH = 98


@dataclass(frozen=True)
class Options:
    """What the command line says about the analysis."""

    study: str
    alpha: float = 0.05
    margin: float = 0.02
    seed: int = 1234
    allow_missing: bool = False
    reference: str | None = None
    options: int | None = None
    quick: bool = False


def analyze_source(source: Path, chosen: Options) -> Leaderboard:
    """Analyse shards, released records or a long table, whichever `source` is.

    Parameters
    ----------
    source : Path
        A folder with shards anywhere below it; a folder in the layout of the released records; or
        a CSV or parquet file (see `load_table`).

    Raises
    ------
    AnalysisError
        If it is none of these, or cannot be analysed.
    """
    if source.is_file():
        data = load_table(
            source,
            reference=chosen.reference,
            options=chosen.options,
            allow_missing=chosen.allow_missing,
        )
    elif any((place / LEGEND).is_file() for place in (source, source / RECORDS)):
        data = load_released(source, allow_missing=chosen.allow_missing)
    else:
        return analyze(
            _shards(source),
            study=chosen.study,
            alpha=chosen.alpha,
            equivalence_margin=chosen.margin,
            seed=chosen.seed,
            allow_missing=chosen.allow_missing,
            quick=chosen.quick,
        )
    return analyze_correctness(
        data,
        study=chosen.study,
        alpha=chosen.alpha,
        equivalence_margin=chosen.margin,
        seed=chosen.seed,
        quick=chosen.quick,
    )


def _shards(folder: Path) -> list[Path]:
    found = sorted(path.parent for path in folder.rglob(SHARD_RECORDS))
    if not found:
        raise AnalysisError(
            "there is nothing to analyse here.",
            where=folder,
            fix=f"give a CSV or parquet file, a folder with {LEGEND}, or one with shards.",
        )
    return found


def readings(leaderboard: Leaderboard) -> Iterator[str]:
    """Yield the lines to print: the sentences, then every finding over all benchmarks."""
    summary = leaderboard.summary
    texts = [sentence.text for sentence in summary.sentences]
    texts += [finding.reading for finding in summary.findings.get("all", ())]
    for text in texts:
        yield from textwrap.wrap(text, _WIDTH, initial_indent="- ", subsequent_indent="  ")
