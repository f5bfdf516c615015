"""The layout of the released records, as `assay.leaderboard.load_released` reads it.

The release has four options an item, and every item asked under every configuration. What goes
beyond that stands in further fields of a line, which other readers pass over: `options` (how many),
`cluster`, `subject`, and `not_applicable` (configurations that make no sense for the item).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import AnalysisError
from assay.core.files import write_json, write_jsonl
from assay.export.cells import Answer, Cell
from assay.leaderboard.load_released import LEGEND, RECORDS
from assay.records.manifest import Manifest
from assay.records.schema import NOT_APPLICABLE, Record


def write_released(cells: Sequence[Cell], out: Path) -> list[Path]:
    """Write the legend and one file of bits for each model and benchmark.

    Parameters
    ----------
    cells : sequence of Cell
        From `read_cells`; all of one grid.
    out : Path
        The folder of the export.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    AnalysisError
        If a file's name could not be taken apart again.
    """
    paths = [out / LEGEND]
    for cell in cells:
        name = f"{cell.manifest.benchmark}__{cell.manifest.model}.jsonl"
        if "__" in cell.manifest.benchmark:
            raise AnalysisError(
                "a double underscore in a benchmark's key is where a file's name is taken apart.",
                where=name,
                fix="give the benchmark another key.",
            )
        write_jsonl(out / RECORDS / name, (_line(cell, record) for record in cell.records))
        paths.append(out / RECORDS / name)
    # Last: a folder without a legend is refused by every reader.
    write_json(out / LEGEND, _legend(cells[0]))
    return paths


def _legend(cell: Cell) -> dict[str, Any]:
    manifest = cell.manifest
    meta = {
        "ref_config": manifest.reference,
        "extractor": cell.extractor,
        "ll_margin": _margin_key(manifest),
        "labels": manifest.labels,
    }
    return {"_meta": meta} | {
        key: {
            "key": key,
            "scoring": way["scoring"],
            "fmt": way["format"],
            "perm_index": _index(way["order"]),
            "perm": way["permutation"],
        }
        for key, way in manifest.configurations.items()
        if _is_a_way(manifest, key)
    }


def _is_a_way(manifest: Manifest, key: str) -> bool:
    """Return whether a configuration is one more way to ask, and no replicate or control."""
    return manifest.configurations[key].get("role") is None


def _index(order: str | None) -> int | None:
    """Return 3 for "p3"; None for an order that is not numbered."""
    number = (order or "")[1:]
    return int(number) if order and order[0] == "p" and number.isdecimal() else None


def _margin_key(manifest: Manifest) -> str | None:
    """Return the likelihood configuration whose margin a line shows: the first."""
    return next((k for k in sorted(manifest.configurations) if k.startswith("ll|")), None)


def _line(cell: Cell, record: Record) -> dict[str, Any]:
    answers = [a for a in cell.answers(record) if _is_a_way(cell.manifest, a.key)]
    margin = record.observations.get(_margin_key(cell.manifest) or "")
    line = {
        "benchmark": record.benchmark,
        "model": record.model,
        "item_id": record.item_id,
        "question": record.question,
        "gold": record.gold,
        # A missing bit is missing: it is not written as a wrong answer.
        "bits": {a.key: int(a.correct) for a in answers if a.correct is not None},
        "ll_margin": None if margin is None else margin.margin,
        "n_gen_unparsed": sum(_unparsed(answer) for answer in answers),
        "extractor": cell.extractor,
        "options": len(record.options),
        "cluster": record.cluster,
        "subject": record.subject,
    }
    senseless = [a.key for a in answers if a.status == NOT_APPLICABLE]
    return line | ({"not_applicable": senseless} if senseless else {})


def _unparsed(answer: Answer) -> bool:
    return answer.generated and answer.label is None
