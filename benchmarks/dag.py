"""Dry runs of large studies beside the bare floor of the same jobs.

Usage: ``python -m benchmarks.dag PAGE [SIZES]``, the first SIZES of the three

For each size the real workflow plans a study of so many models and benchmarks (26 configurations,
a cycle of the evaluation core for each model, nothing fetched and nothing there yet), and beside it
``floor.smk`` plans as many jobs with as many files and parameters without any logic. Times are
processor time of the whole command, the least of several turns, which other work on the machine
disturbs least; memory is the peak of its process (VmHWM). The table goes between the marks of PAGE.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from benchmarks.section import replace_section

from assay.config import FIGURES, TABLES, Study, load_study

PROJECT = Path(__file__).resolve().parents[1]
#: Models, benchmarks, and how often both are planned in turn.
SIZES = ((12, 4, 5), (100, 20, 4), (500, 40, 2))
REVISION = "0123456789abcdef0123456789abcdef01234567"
HEAD = (
    "| models × benchmarks | jobs | floor | workflow | ratio | floor's peak | peak |",
    "|---|--:|--:|--:|--:|--:|--:|",
)


@dataclass(frozen=True)
class Planned:
    """What a dry run took: processor seconds, jobs, and peak memory in MiB."""

    seconds: float
    jobs: int
    peak: int


def study(models: int, benchmarks: int) -> dict[str, Any]:
    """Return a run file of made-up models and benchmarks on a hub."""
    source = {"kind": "hub", "revision": REVISION}
    made_up = {"family": "made-up", "licence": "none"}
    items = {"split": "test", "adapter": "generic", "licence": "none", "columns": {"id": "id"}}
    names = [f"m{k:03d}" for k in range(models)], [f"b{k:02d}" for k in range(benchmarks)]
    return {
        "study": "scale",
        "models": names[0],
        "benchmarks": [{"key": name, "items": 200} for name in names[1]],
        "define": {
            "models": {n: made_up | {"source": source | {"repo": f"some/{n}"}} for n in names[0]},
            "benchmarks": {
                n: items | {"source": source | {"repo": f"some/{n}", "config": "default"}}
                for n in names[1]
            },
        },
    }


def plan(folder: Path, *arguments: str) -> Planned:
    """Plan all jobs in `folder`.

    Raises
    ------
    SystemExit
        If Snakemake refuses.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "rules", "--cores", "1"]
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "src")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=folder,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        peak = 0
        while process.poll() is None:
            peak = max(peak, _peak(process.pid))
            time.sleep(0.05)
        said.seek(0)
        text = said.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = re.search(r"^total\s+(\d+)", text, re.MULTILINE)
    if process.returncode or total is None:
        raise SystemExit(text)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Planned(seconds, int(total[1]), peak)


def _peak(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found[1]) // 1024 if found else 0


def compared(models: int, benchmarks: int, turns: int, folder: Path) -> tuple[Planned, Planned]:
    """Plan the floor and the workflow in turn, and return the fastest of each.

    Raises
    ------
    SystemExit
        If the floor has other jobs than the workflow, so that the comparison would say nothing.
    """
    run = folder / "run.yaml"
    run.write_text(yaml.safe_dump(study(models, benchmarks), sort_keys=False))
    shape = folder / "floor.json"
    shape.write_text(json.dumps(sizes(load_study(PROJECT / "config/config.yaml", run))))
    for file in ("benchmarks/script.py", "environment.yaml"):
        place = folder / file
        place.parent.mkdir(exist_ok=True)
        place.touch()
    shutil.copy(PROJECT / "benchmarks/floor.smk", folder / "Snakefile")
    pairs = [
        (plan(folder, "--configfile", str(shape)), plan(PROJECT, "--configfile", str(run)))
        for _ in range(turns)
    ]
    floor, ours = (min(turn, key=lambda one: one.seconds) for turn in zip(*pairs, strict=True))
    if floor.jobs != ours.jobs:
        raise SystemExit(f"the floor has {floor.jobs} jobs, the workflow {ours.jobs}")
    return floor, ours


def sizes(found: Study) -> dict[str, Any]:
    """Return what the floor is made of: names, and how long the parameters of each rule are."""
    shard, model = next(iter(found.shards.values())), found.models[0].key
    items, cycle = shard.benchmark.parameters, found.cycles[model].parameters
    steps = ("normalize", "diagnose", "propose", "compare", "decide")
    spec = {
        "fetch_items": items,
        "build_snapshot": items,
        "fetch_model": found.source_parameters(model),
        "collect": shard.parameters,
        "analyze": found.analysis_parameters,
        "evaluation": found.evaluation_parameters,
        "report": found.report_parameters,
        "other": found.figure_parameters(FIGURES[0]),
        **dict.fromkeys(steps, cycle),
    }
    return {
        "models": [one.key for one in found.models],
        "benchmarks": [one.key for one in found.benchmarks],
        "figures": list(FIGURES),
        "tables": list(TABLES),
        "spec": {rule: len(text) for rule, text in spec.items()},
    }


def main(arguments: Sequence[str]) -> None:
    """Print each line and put the table into the page."""
    rows = list(HEAD)
    for models, benchmarks, turns in SIZES[: int(arguments[1])] if arguments[1:] else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            floor, ours = compared(models, benchmarks, turns, Path(folder))
        rows.append(
            f"| {models} × {benchmarks} | {ours.jobs:,} | {floor.seconds:.1f} s | "
            f"{ours.seconds:.1f} s | {ours.seconds / floor.seconds:.2f} | {floor.peak:,} MiB | "
            f"{ours.peak:,} MiB |"
        )
        print(rows[-1], flush=True)
    replace_section(Path(arguments[0]), "dag", "\n".join(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
