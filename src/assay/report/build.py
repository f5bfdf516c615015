"""Build the report folder: the page, the chunks of answers, and the files for download."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import AnalysisError
from assay.core.files import finished_files, write_text
from assay.plots.tables import POOLED
from assay.report.charts import charts
from assay.report.downloads import Download, copy_downloads
from assay.report.encode import json_for_script, pack, png_uri
from assay.report.findings import finding_rows
from assay.report.inputs import MEGABYTE, ReportInputs, ReportOptions, read_inputs
from assay.report.items import ItemData, item_data
from assay.report.licences import withheld_benchmarks
from assay.report.page import render_page
from assay.report.provenance import benchmark_cards, model_cards, shard_rows, software
from assay.report.views import audit_table, leaderboard_rows, null_rows, pair_rows, status_table

INDEX = "index.html"
CHUNKS = "items"


def build_report(
    *,
    leaderboard: Path,
    tables: Path,
    figures: Path,
    shards: Sequence[Path],
    out: Path,
    options: ReportOptions | None = None,
) -> list[Path]:
    """Write the report to the folder `out`; return every file of it, the page first.

    Parameters
    ----------
    leaderboard : Path
        ``leaderboard.json`` of the analysis.
    tables, figures : Path
        Folders of the analysis' tables and of the paper figures.
    shards : sequence of Path
        The shard folders that were analysed; each is verified.

    Raises
    ------
    AnalysisError
        If the inputs do not belong together, or the page would exceed its size limit.
    RecordError
        If a shard is torn, altered or incomplete.
    """
    inputs = read_inputs(leaderboard, tables, shards, options or ReportOptions())
    withheld = _withheld(inputs)
    items = item_data(inputs, withheld)
    downloads = copy_downloads(out, leaderboard=leaderboard, tables=tables, figures=figures)
    page = render_page(_context(inputs, withheld, items, downloads, figures))
    _refuse_oversize(page, out / INDEX, inputs.options.index_limit)
    chunks = _write_chunks(out / CHUNKS, items)
    write_text(out / INDEX, page)
    copied = [download.path for group in downloads.values() for download in group]
    return [out / INDEX, *chunks, *copied]


def _withheld(inputs: ReportInputs) -> dict[str, str]:
    licences = {name: inputs.licence(name) for name in inputs.benchmarks}
    return withheld_benchmarks(licences, inputs.benchmarks, inputs.options.embed_items)


def _context(
    inputs: ReportInputs,
    withheld: dict[str, str],
    items: ItemData,
    downloads: dict[str, list[Download]],
    figures: Path,
) -> dict[str, Any]:
    statuses, status_rows = status_table(inputs)
    extractors, audit = audit_table(inputs)
    facts = {
        "models": inputs.models,
        "benchmarks": inputs.benchmarks,
        "configurations": inputs.configurations,
        "reference": inputs.summary.reference,
        "withheld": withheld,
    }
    return {
        "title": inputs.options.title,
        "summary": inputs.summary,
        "inputs": inputs,
        "missing": inputs.missing,
        "withheld": withheld,
        "scopes": [POOLED, *inputs.benchmarks],
        "leaderboard": leaderboard_rows(inputs),
        "pairs": pair_rows(inputs),
        "extractors": extractors,
        "audit": audit,
        "statuses": statuses,
        "status_rows": status_rows,
        "nulls": null_rows(inputs),
        "findings": finding_rows(inputs),
        "models": model_cards(inputs),
        "benchmarks": benchmark_cards(inputs),
        "shards": shard_rows(inputs),
        "software": software(),
        "downloads": downloads,
        "figures": {
            path.stem: png_uri(path.read_bytes()) for path in finished_files(figures, ".png")
        },
        "chunks": items.embedded,
        "linked": len(items.linked),
        "item_list": pack(items.entries),
        "facts": json_for_script(facts),
        "charts": json_for_script(charts(inputs)),
    }


def _write_chunks(folder: Path, items: ItemData) -> list[Path]:
    """Write the chunks that the index does not hold, as scripts.

    A page opened from a folder may not read files, but it may run scripts that lie beside it.
    """
    if folder.exists():
        shutil.rmtree(folder)
    written = []
    for name, packed in items.linked.items():
        path = folder / f"{name}.js"
        write_text(path, f'Assay.receive("{name}","{packed}");\n')
        written.append(path)
    return written


def _refuse_oversize(page: str, path: Path, limit: int) -> None:
    size = len(page.encode("utf-8"))
    if size > limit:
        raise AnalysisError(
            f"the page would have {size / MEGABYTE:.1f} MB, more than {limit / MEGABYTE:.0f} MB.",
            where=path,
            fix="ask fewer items, or set report.embed_items to none.",
        )
