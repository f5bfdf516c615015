"""The layout of Every Eval Ever (schema 0.3.0): aggregates, and one row for each answer.

::

    data/<benchmark>/<developer>/<model>/<uuid>.json           one result a configuration
    data/<benchmark>/<developer>/<model>/<uuid>_samples.jsonl  one row an item and configuration

The uuid follows from the shard's content, so that exporting it twice names the same files.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from assay.core.files import write_json, write_jsonl
from assay.core.identity import canonical_json, digest, sha256_file
from assay.export.cells import Cell
from assay.export.every_eval_ever_rows import SCHEMA_VERSION, sample_row
from assay.records.schema import NOT_APPLICABLE
from assay.stats import proportion_ci


def write_every_eval_ever(cells: Sequence[Cell], out: Path, *, created: int) -> list[Path]:
    """Write an aggregate and its samples for each model and benchmark.

    Parameters
    ----------
    cells : sequence of Cell
        From `read_cells`.
    out : Path
        The folder that holds, or will hold, `data`.
    created : int
        Seconds since 1970; the layout wants to know when a record was made, and no shard says.

    Returns
    -------
    list of Path
        The files. An observation without an answer has no row: it is counted in its aggregate.
    """
    paths = []
    for cell in cells:
        developer, _, name = cell.model_id.partition("/")
        folder = Path("data", cell.manifest.benchmark, developer, name.replace("/", "_"))
        stem = _uuid(cell)
        evaluation = f"{cell.manifest.benchmark}/{cell.model_id}/{created}"
        samples = folder / f"{stem}_samples.jsonl"
        rows = _rows(cell, evaluation)
        write_jsonl(out / samples, rows)
        detail = {
            "format": "jsonl",
            "file_path": samples.as_posix(),
            "hash_algorithm": "sha256",
            "checksum": sha256_file(out / samples),
            "total_rows": len(rows),
        }
        aggregate = _aggregate(cell, evaluation, created)
        write_json(
            out / folder / f"{stem}.json", aggregate | {"detailed_evaluation_results": detail}
        )
        paths += [out / folder / f"{stem}.json", out / samples]
    return paths


def _uuid(cell: Cell) -> str:
    content = {name: file.sha256 for name, file in cell.manifest.files.items()}
    bits = digest([content, cell.manifest.model, cell.extractor], length=32)
    return str(uuid.UUID(hex=bits, version=4))


def _rows(cell: Cell, evaluation: str) -> list[dict[str, Any]]:
    prompts = cell.shard.prompts()
    return [
        sample_row(cell, record, answer, prompts.get((record.item_id, answer.key)), evaluation)
        for record in cell.records
        for answer in cell.answers(record)
        if answer.correct is not None
    ]


def _aggregate(cell: Cell, evaluation: str, created: int) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation,
        "retrieved_timestamp": str(created),
        "source_metadata": {
            "source_name": "Assay",
            "source_type": "evaluation_run",
            "source_organization_name": "not stated",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "assay", "version": version("assay")},
        "model_info": _model(cell),
        "evaluation_results": list(_results(cell)),
    }


def _model(cell: Cell) -> dict[str, Any]:
    provenance = cell.manifest.provenance
    origin = provenance.get("origin", {})
    engine, _, libraries = str(origin.get("backend", "unknown")).partition(" ")
    kind = provenance.get("model", {}).get("source", {}).get("kind")
    details = {
        "deployment_type": "externally_managed" if engine == "api" else "self_deployed",
        "model_availability": "open_weights" if kind in ("hub", "wheel") else "unknown",
        "source": provenance.get("model", {}).get("source"),
        "licence": provenance.get("model", {}).get("licence"),
        "digests": origin.get("model"),
        "dtype": origin.get("dtype"),
        "quantisation": origin.get("quantisation"),
        "thinking": provenance.get("thinking"),
    }
    return {
        "name": cell.manifest.model,
        "id": cell.model_id,
        "developer": cell.model_id.partition("/")[0],
        "inference_engine": {"name": engine, "version": libraries or "unknown"},
        "additional_details": _texts(details),
    }


def _texts(details: dict[str, Any]) -> dict[str, str]:
    """Return the known values as texts: the layout allows nothing else in details."""
    return {
        name: value if isinstance(value, str) else canonical_json(value)
        for name, value in details.items()
        if value is not None
    }


def _results(cell: Cell) -> Iterator[dict[str, Any]]:
    bits: dict[str, list[bool]] = {key: [] for key in cell.keys}
    lacking: dict[str, Counter[str]] = {key: Counter() for key in cell.keys}
    for record in cell.records:
        for answer in cell.answers(record):
            if answer.correct is not None:
                bits[answer.key].append(answer.correct)
            elif answer.status == NOT_APPLICABLE:
                lacking[answer.key][NOT_APPLICABLE] += 1
            else:
                lacking[answer.key]["missing"] += 1
    for key in cell.keys:
        if bits[key]:
            yield _result(cell, key, bits[key], lacking[key])


def _result(cell: Cell, key: str, bits: Sequence[bool], lacking: Counter[str]) -> dict[str, Any]:
    way = cell.manifest.configurations[key]
    decode = cell.manifest.provenance.get("decode", {}) if way["scoring"] == "gen" else {}
    # A replicate or a control says so in its role.
    details = {n: way.get(n) for n in ("scoring", "format", "order", "permutation", "role")}
    return {
        "evaluation_result_id": key,
        "evaluation_name": f"{cell.manifest.benchmark}/{key}",
        "source_data": _source(cell),
        "metric_config": {
            "evaluation_description": "Share of items answered right under one configuration.",
            "metric_id": "accuracy",
            "metric_name": "Accuracy",
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": {"extractor": cell.extractor},
        },
        "score_details": {
            "score": sum(bits) / len(bits),
            "details": {name: str(count) for name, count in sorted(lacking.items())},
            "uncertainty": _uncertainty(bits),
        },
        "generation_config": {
            "generation_args": {"temperature": 0.0, "max_tokens": decode.get("max_new_tokens")},
            "additional_details": _texts(details),
        },
    }


def _uncertainty(bits: Sequence[bool]) -> dict[str, Any]:
    interval = proportion_ci(sum(bits), len(bits))
    return {
        "confidence_interval": {
            "lower": float(interval.low),
            "upper": float(interval.high),
            "confidence_level": interval.level,
            "method": f"{interval.method}; items taken as independent",
        },
        "num_samples": len(bits),
    }


def _source(cell: Cell) -> dict[str, Any]:
    name, pin = cell.manifest.benchmark, cell.dataset
    if pin.get("kind") == "hub":
        return {
            "dataset_name": name,
            "source_type": "hf_dataset",
            "hf_repo": pin["repo"],
            "hf_split": pin.get("split"),
            "samples_number": cell.manifest.rows,
            "additional_details": {"revision": pin["revision"]},
        }
    if pin.get("kind") == "wheel":
        urls = [
            f"https://pypi.org/project/{d['name']}/{d['version']}/" for d in pin["distributions"]
        ]
        return {"dataset_name": name, "source_type": "url", "url": urls}
    return {"dataset_name": name, "source_type": "other"}
