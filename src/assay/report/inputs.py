"""What a report is made from: numbers, tables, figures and verified shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from pydantic import ValidationError

from assay.core.errors import AnalysisError
from assay.core.files import read_json
from assay.core.validation import first_problem
from assay.leaderboard.summary import Missing, Summary
from assay.plots.tables import POOLED, read_table
from assay.records.shard import Shard, read_shard
from assay.report.licences import EmbedItems

#: Tables that the report shows; all others in the folder are offered for download.
_SHOWN = (
    "accuracy",
    "band",
    "items",
    "item_fragility",
    "ranks",
    "pairs",
    "extraction_audit",
    "statuses",
)
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ReportOptions:
    """What the run file says about the report.

    Attributes
    ----------
    embed_items : {"licensed", "all", "none"}
        Whether questions, options, prompts and answers are shown: where the benchmark's licence
        allows it, always, or never.
    licences : mapping
        Benchmark → licence; what a shard's own provenance says is used where it is missing.
    attributions : mapping
        Benchmark → whom to name beside its items.
    evaluation : bool
        Whether an evaluation page lies beside the page.
    item_budget, index_limit : int
        Bytes of answers embedded in the index, and of the whole index.
    chunk_size : int
        Characters of JSON at which a compressed chunk of answers is closed.
    """

    title: str = "Assay report"
    embed_items: EmbedItems = "licensed"
    licences: Mapping[str, str] = field(default_factory=dict)
    attributions: Mapping[str, str] = field(default_factory=dict)
    evaluation: bool = False
    item_budget: int = 6 * MEGABYTE
    chunk_size: int = 1_500_000
    index_limit: int = 20 * MEGABYTE


@dataclass(frozen=True)
class ReportInputs:
    """The verified content that the sections are made of.

    Attributes
    ----------
    summary : Summary
        The content of ``leaderboard.json``.
    tables : dict of str to DataFrame
    shards : dict
        (model, benchmark) → shard.
    models : list of str
        Best pooled reference accuracy first.
    benchmarks, configurations : list of str
    """

    summary: Summary
    tables: dict[str, pd.DataFrame]
    shards: dict[tuple[str, str], Shard]
    models: list[str]
    benchmarks: list[str]
    configurations: list[str]
    options: ReportOptions

    @property
    def missing(self) -> list[str]:
        """What a complete study would have and this one lacks, for people."""
        return list(dict.fromkeys([*self.summary.absent, *map(_describe, self.summary.missing)]))

    def licence(self, benchmark: str) -> str:
        """Return the licence of a benchmark's items, or an empty string."""
        stated = self.options.licences.get(benchmark, "")
        own = (
            shard.manifest.provenance.get("snapshot", {}).get("licence", "")
            for (_, name), shard in self.shards.items()
            if name == benchmark
        )
        return stated or next((licence for licence in own if licence), "")


def read_inputs(
    leaderboard: Path, tables: Path, shards: Sequence[Path], options: ReportOptions
) -> ReportInputs:
    """Read everything a report needs; every shard is verified against its manifest.

    Raises
    ------
    AssayError
        If a file is missing, altered, or the shards are not those of the analysis.
    """
    summary = _read_summary(leaderboard)
    read = {name: read_table(tables, name) for name in _SHOWN}
    opened = [read_shard(folder) for folder in shards]
    cells = {(shard.manifest.model, shard.manifest.benchmark): shard for shard in opened}
    _refuse_strangers(cells, read["items"], leaderboard)
    return ReportInputs(
        summary=summary,
        tables=read,
        shards=dict(sorted(cells.items())),
        models=_ranked(read["band"], summary.models),
        benchmarks=summary.benchmarks,
        configurations=_reference_family_first(summary),
        options=options,
    )


def _refuse_strangers(
    shards: Mapping[tuple[str, str], Shard], items: pd.DataFrame, leaderboard: Path
) -> None:
    pairs = items[["model", "benchmark"]].drop_duplicates().itertuples(index=False)
    analysed = {(str(model), str(benchmark)) for model, benchmark in pairs}
    different = sorted(analysed ^ set(shards))
    if different or not shards:
        names = ", ".join(f"{model} × {benchmark}" for model, benchmark in different) or "none"
        raise AnalysisError(
            f"the shards given and the shards analysed differ in: {names}.",
            where=leaderboard,
            fix="give --shards the folders that the analysis was given.",
        )


def _read_summary(path: Path) -> Summary:
    try:
        return Summary.model_validate(read_json(path))
    except ValidationError as error:
        raise AnalysisError(
            f"not the numbers of this version's analysis: {first_problem(error)}.",
            where=path,
            fix="run the leaderboard analysis again.",
        ) from error


def _reference_family_first(summary: Summary) -> list[str]:
    """Return the configurations with those of the reference's format at the head."""
    head = summary.reference.rsplit("|", 1)[0]
    return sorted(summary.configurations, key=lambda key: not key.startswith(head))


def _ranked(band: pd.DataFrame, models: Sequence[str]) -> list[str]:
    pooled = band[band["benchmark"] == POOLED]
    ordered = pooled.sort_values(["reference", "model"], ascending=[False, True])
    return list(dict.fromkeys([*map(str, ordered["model"]), *models]))


def _describe(gap: Missing) -> str:
    name = f"{gap.model} × {gap.benchmark}"
    if gap.configuration is None:
        return name
    return f"{name}, {gap.configuration}: {gap.n} × {gap.status}"
