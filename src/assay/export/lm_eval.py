"""The layout of lm-evaluation-harness (0.4): results, and samples for each task.

::

    <model>/results_<date>.json          one task a benchmark and configuration
    <model>/samples_<task>_<date>.jsonl  one line an item

The metrics keep the meaning that the harness gives them. A likelihood task has `acc` (highest sum
of log-probabilities) and `acc_norm` (per character), which are its own, and `acc_token` (per
token), which is the bit of the grid. A generation task has `acc` under the filter that is named
like the extractor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from math import sqrt
from pathlib import Path
from typing import Any

from assay.core.files import write_json, write_jsonl
from assay.core.identity import sha256_text
from assay.export.cells import Cell
from assay.export.lm_eval_samples import GENERATED, SCORED, sample

#: What the harness calls the runtimes.
_BACKENDS = {"hf_local": "hf", "vllm_offline": "vllm"}


def write_lm_eval(cells: Sequence[Cell], out: Path, *, created: int) -> list[Path]:
    """Write one folder a model.

    Parameters
    ----------
    cells : sequence of Cell
        From `read_cells`.
    out : Path
        What the harness calls ``--output_path``.
    created : int
        Seconds since 1970; the names of the files hold it.

    Returns
    -------
    list of Path
        The files. An observation without an answer has no line and is in no average.
    """
    paths = []
    date = datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")
    for model in dict.fromkeys(cell.manifest.model for cell in cells):
        mine = [cell for cell in cells if cell.manifest.model == model]
        # The key, not the repository: two entries may ask one repository in two ways.
        folder = out / re.sub(r"[\"<>:/|\\?*\[\]]+", "__", model)
        tasks: dict[str, tuple[Cell, str, list[dict[str, Any]]]] = {}
        for cell in mine:
            for key, lines in _lines(cell).items():
                tasks[task_name(cell.manifest.benchmark, key)] = (cell, key, lines)
        for task, (_, _, lines) in tasks.items():
            paths.append(folder / f"samples_{task}_{date}.jsonl")
            write_jsonl(paths[-1], lines)
        paths.append(folder / f"results_{date}.json")
        write_json(paths[-1], _results(mine, tasks, created))
    return paths


def task_name(benchmark: str, key: str) -> str:
    """Return the task of one configuration.

    Examples
    --------
    >>> task_name("arc_challenge", "gen|letter_plain|p0")
    'arc_challenge_gen_letter_plain_p0'
    """
    return re.sub(r"\W", "_", f"{benchmark}_{key}")


def _lines(cell: Cell) -> dict[str, list[dict[str, Any]]]:
    """Return configuration → its lines; a configuration without an answer has no task."""
    prompts = cell.shard.prompts()
    lines: dict[str, list[dict[str, Any]]] = {}
    for number, record in enumerate(cell.records):
        for answer in cell.answers(record):
            line = sample(cell, record, answer, prompts.get((record.item_id, answer.key), ""))
            if line is not None:
                lines.setdefault(answer.key, []).append({"doc_id": number} | line)
    return {key: lines[key] for key in sorted(lines)}


def _results(
    cells: Sequence[Cell],
    tasks: Mapping[str, tuple[Cell, str, list[dict[str, Any]]]],
    created: int,
) -> dict[str, Any]:
    groups: dict[str, list[str]] = {cell.manifest.benchmark: [] for cell in cells}
    for task, (cell, _, _) in tasks.items():
        groups[cell.manifest.benchmark].append(task)
    return {
        "results": {task: _metrics(task, *found) for task, found in tasks.items()},
        "group_subtasks": groups,
        "configs": {task: _config(task, *found[:2]) for task, found in tasks.items()},
        "versions": {task: found[0].manifest.schema_version for task, found in tasks.items()},
        "higher_is_better": {
            task: dict.fromkeys(_names(*found[:2]), True) for task, found in tasks.items()
        },
        "n-samples": {
            task: {"original": found[0].manifest.rows, "effective": len(found[2])}
            for task, found in tasks.items()
        },
        "config": _model(cells[0]),
        "model_source": _model(cells[0])["model"],
        "model_name": cells[0].model_id,
        "model_name_sanitized": cells[0].model_id.replace("/", "__"),
        "date": float(created),
        "task_hashes": {task: _hash(found[2]) for task, found in tasks.items()},
        "assay_version": version("assay"),
    }


def _model(cell: Cell) -> dict[str, Any]:
    provenance = cell.manifest.provenance
    origin = provenance.get("origin", {})
    backend = str(origin.get("backend", "unknown")).partition(" ")[0]
    known = {
        "model": _BACKENDS.get(backend, backend),
        "model_args": {"pretrained": cell.model_id},
        "model_dtype": origin.get("dtype"),
        "model_revision": provenance.get("model", {}).get("source", {}).get("revision"),
        "model_sha": origin.get("model", {}).get("weights"),
    }
    return {name: value for name, value in known.items() if value is not None}


def _names(cell: Cell, key: str) -> tuple[str, ...]:
    return SCORED if cell.manifest.configurations[key]["scoring"] == "ll" else GENERATED


def _metrics(task: str, cell: Cell, key: str, lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    metrics: dict[str, Any] = {"name": task, "alias": task, "sample_len": len(lines)}
    for name in _names(cell, key):
        share = sum(line[name] for line in lines) / len(lines)
        metrics[f"{name},{lines[0]['filter']}"] = share
        metrics[f"{name}_stderr,{lines[0]['filter']}"] = (
            sqrt(share * (1 - share) / (len(lines) - 1)) if len(lines) > 1 else "N/A"
        )
    return metrics


def _config(task: str, cell: Cell, key: str) -> dict[str, Any]:
    pin = cell.dataset
    scored = cell.manifest.configurations[key]["scoring"] == "ll"
    decode = cell.manifest.provenance.get("decode", {})
    config = {
        "task": task,
        "tag": [cell.manifest.benchmark],
        "dataset_path": pin.get("repo", cell.manifest.benchmark),
        "dataset_name": pin.get("config"),
        "test_split": pin.get("split"),
        "output_type": "multiple_choice" if scored else "generate_until",
        "metric_list": [
            {"metric": name, "aggregation": "mean", "higher_is_better": True}
            for name in _names(cell, key)
        ],
        "repeats": 1,
        "metadata": {
            "configuration": key,
            "extractor": cell.extractor,
            "snapshot_sha256": cell.manifest.snapshot_sha256,
        },
    }
    if not scored:
        limit = decode.get("max_new_tokens")
        config["generation_kwargs"] = {"do_sample": False, "max_gen_toks": limit, "until": []}
    return config


def _hash(lines: Sequence[dict[str, Any]]) -> str:
    parts = (line["doc_hash"] + line["prompt_hash"] + line["target_hash"] for line in lines)
    return sha256_text("".join(parts))
