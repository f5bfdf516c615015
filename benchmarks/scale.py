"""Time and memory of very many observations: written as shards, read, and analysed.

Usage: ``python -m benchmarks.scale FOLDER PAGE [--models 20 100 500] [--benchmarks 40]
[--items 7720] [--workers 2]``

A made-up leaderboard is written by the collector's own writer, one shard for each model and
benchmark, into FOLDER (420 bytes an observation), then read and analysed as ``assay analyze`` does,
for its first models and for all of them; what was read must be what was drawn. Every part runs in a
process of its own. Times are processor time, memory is the peak of the process (VmHWM). The table
goes between the marks of PAGE. Shards that are already there are kept.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.parts import ORDERS, outcomes
from benchmarks.section import replace_section

from assay.core.files import read_json, write_json
from assay.core.identity import digest
from assay.grid.configuration import Configuration
from assay.grid.formats import labels_for
from assay.leaderboard.analysis import analyze_correctness, write
from assay.leaderboard.audit import ExtractionAudit
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.load import load
from assay.records.schema import Record
from assay.records.shard import MANIFEST, write_shard

OPTIONS = ("a harbour", "a lantern", "a meadow", "a willow")
#: What was drawn: right or wrong, shape (model, item, configuration).
DRAWN = "drawn.npy"
#: Seconds and observations of all that was written.
TOOK = "took.json"
HEAD = (
    "| models × benchmarks | observations | on disk | written | read | peak | analysed | peak |",
    "|---|--:|--:|--:|--:|--:|--:|--:|",
)


def write_models(folder: Path, data: Correctness, models: Sequence[int]) -> tuple[float, int]:
    """Write the shards of some models that are not there.

    Returns
    -------
    float, int
        Seconds that writing took, without making the records up, and how many observations.
    """
    seconds, written = 0.0, 0
    for m in models:
        for name in data.benchmarks:
            shard = folder / data.models[m] / name
            if (shard / MANIFEST).is_file():
                continue
            rows = np.flatnonzero(data.benchmark_of == name).tolist()
            records = [_record(data, m, row) for row in rows]
            start = time.process_time()
            write_shard(shard, records, [], _facts(data, m, name))
            seconds += time.process_time() - start
            written += len(rows) * len(data.configurations)
    return seconds, written


def _record(data: Correctness, m: int, row: int) -> Record:
    item = data.items[row]
    asked = zip(
        data.configurations,
        data.gold_slots[row].tolist(),
        data.slots[m, row].tolist(),
        data.values[m, row].tolist(),
        strict=True,
    )
    seen = [(way, gold, slot, bool(right)) for way, gold, slot, right in asked]
    gold = ORDERS[0][seen[data.reference][1]]
    return Record.model_validate(
        {
            "benchmark": item.benchmark,
            "model": data.models[m],
            "item_id": item.item_id,
            "native_id": item.item_id,
            "question": f"Made-up question {row}: which of these was drawn?",
            "options": OPTIONS,
            "gold": gold,
            "accepts": [gold],
            "subject": item.subject,
            "cluster": item.cluster,
            "locked": False,
            "flags": [],
            "observations": {
                way.key: _observation(data, item.item_id, way, gold, slot, right)
                for way, _, slot, right in seen
            },
        }
    )


def _observation(
    data: Correctness, item_id: str, way: Configuration, gold: int, slot: int, right: bool
) -> dict[str, Any]:
    prompt = _prompt(item_id, way)
    base = {"key": prompt[:24], "status": "ok", "correct": right, "prompt_sha256": prompt}
    base["prompt_tokens"] = 61
    if way.order is None:
        choice = gold if right else (gold + 1) % len(OPTIONS)
        sums = [-9.25 + 2.125 * (k == choice) for k in range(len(OPTIONS))]
        tokens, size = [s / 3 for s in sums], [s / 9 for s in sums]
        scores = {"sum": sums, "token": tokens, "byte": size}
        return base | {"choice": choice, "scores": scores, "margin": 0.7, "credit": float(right)}
    order = ORDERS[int(way.order[1:])]
    label = labels_for(data.labels[way.format], len(OPTIONS))[slot]
    return base | {
        "choice": order[slot],
        "order": order,
        "label": label,
        "text": label,
        "rule": "bare",
        "span": (0, 1),
        "finish": "eos",
        "new_tokens": 2,
    }


@cache
def _prompt(item_id: str, way: Configuration) -> str:
    return digest([item_id, way.key])


def _facts(data: Correctness, m: int, benchmark: str) -> dict[str, Any]:
    return {
        "model": data.models[m],
        "benchmark": benchmark,
        "reference": data.reference_configuration.key,
        "configurations": {
            way.key: {
                "scoring": way.scoring,
                "format": way.format,
                "order": way.order,
                "permutation": ORDERS[int(way.order[1:])] if way.order else None,
            }
            for way in data.configurations
        },
        "labels": dict(data.labels),
        "snapshot_sha256": digest([benchmark]),
        "provenance": {"synthetic": True},
    }


def read_and_analyse(folder: Path, models: Sequence[str], quick: bool) -> dict[str, Any]:
    """Read the shards of some models, compare with what was drawn, analyse."""
    folders = [shard for model in models for shard in (folder / model).iterdir()]
    size = sum(path.stat().st_size for shard in folders for path in shard.iterdir())
    audit, start = ExtractionAudit(), time.process_time()
    data = load(folders, observer=audit)
    read = time.process_time() - start, peak()
    drawn = np.load(folder / DRAWN, mmap_mode="r")
    assert all(np.array_equal(values, drawn[m]) for m, values in enumerate(data.values))
    start = time.process_time()
    with tempfile.TemporaryDirectory() as found:
        leaderboard = analyze_correctness(data, study="scale", seed=1, audit=audit, quick=quick)
        write(leaderboard, Path(found))
    return {
        "shards": len(folders),
        "observations": int(data.values.size),
        "bytes": size,
        "read": read,
        "analysed": (time.process_time() - start, peak()),
    }


def peak() -> int:
    """Return the peak memory of this process in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) // 1024


def _started(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.scale", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _answer(process: subprocess.Popen[str]) -> Any:
    said, _ = process.communicate()
    if process.returncode:
        raise SystemExit(process.returncode)
    return json.loads(said)


def _write_all(options: argparse.Namespace) -> float:
    """Write what is missing in several processes; return the seconds an observation takes.

    Of everything that was ever written to the folder: what is there is kept, with its time.
    """
    grid = [str(max(options.models)), str(options.items), str(options.benchmarks)]
    workers = [
        _started("write", str(options.folder), *grid, f"{n}/{options.workers}")
        for n in range(options.workers)
    ]
    took = options.folder / TOOK
    found = [_answer(worker) for worker in workers]
    found += [read_json(took)] if took.is_file() else []
    write_json(took, np.sum(found, axis=0).tolist())
    seconds, written = read_json(took)
    return float(seconds / written)


def main(options: argparse.Namespace) -> None:
    """Write, read, analyse; print each line and put the table into the page."""
    each = _write_all(options)
    rows = list(HEAD)
    for models in options.models:
        found = _answer(_started("read", str(options.folder), str(models), options.analysis))
        cells = [
            f"{models:,} × {options.benchmarks:,}",
            f"{found['observations']:,}",
            f"{found['bytes'] / 1e9:.2f} GB",
            f"{each * found['observations']:,.0f} s",
        ]
        for part in ("read", "analysed"):
            seconds, memory = found[part]
            cells += [f"{seconds:,.0f} s", f"{memory:,} MiB"]
        rows.append(f"| {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    replace_section(options.page, "records", "\n".join(rows))


def work(kind: str, folder: str, *words: str) -> None:
    """Do one part in this process; its numbers go to the standard output."""
    if kind == "read":
        names = sorted(path.name for path in Path(folder).iterdir() if path.is_dir())
        found = read_and_analyse(Path(folder), names[: int(words[0])], words[1] == "quick")
        print(json.dumps(found))
        return
    data = outcomes(*map(int, words[:3]))
    worker, workers = map(int, words[3].split("/"))
    if worker == 0:
        np.save(Path(folder) / DRAWN, data.values)
    print(json.dumps(write_models(Path(folder), data, range(worker, len(data.models), workers))))


if __name__ == "__main__":
    if sys.argv[1] in ("write", "read"):
        work(*sys.argv[1:])
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("folder", type=Path, help="where the shards go (42 GB for all)")
        parser.add_argument("page", type=Path, help="Markdown page with the marks of the table")
        parser.add_argument("--models", type=int, nargs="+", default=[20, 100, 500])
        parser.add_argument("--benchmarks", type=int, default=40)
        parser.add_argument("--items", type=int, default=7720, help="of all benchmarks together")
        parser.add_argument("--workers", type=int, default=2)
        parser.add_argument("--analysis", choices=["whole", "quick"], default="whole")
        main(parser.parse_args())
