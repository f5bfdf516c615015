"""Strike and write the page: ``PYTHONPATH=tests python -m faults docs/reliability.md``."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from faults import collector, damage, inputs, slurm, workflow
from faults.row import Row, table

WORDS = """\
# What a run survives

Each line strikes a fresh run, starts it again as a user would, and compares every final file with a
run that nothing disturbed. Written by `PYTHONPATH=tests python -m faults docs/reliability.md`.

*At work*: strikes that met the program before it had ended. *Most repeated*: observations that one
strike made the model answer twice; up to eight answers are under way at a time here. *Refused by
name*: damage that reading answered with one error naming the file; a shard made again from its
journal is then whole, or refused likewise.

"""
REST = """
A process that the kernel ends for lack of memory is one that is killed (first line); memory that an
allocator refuses halves the batch (`tests/unit/models/test_memory.py`). A clock that was set back
leaves files from the future: Snakemake refuses a job that reads one, by name, until they are
touched. A run file that was damaged into another valid one asks for other shards, in folders of
their own. SLURM's own faults (preemption, time limits, cancelled jobs) are struck in `tests/slurm`.
"""


def rows(options: argparse.Namespace, base: Path) -> Iterator[Row]:
    """Strike one fault after the other."""
    for fault in collector.STRIKES:
        yield collector.campaign(fault, options.times, base)
    for name in damage.damaged_files(base):
        yield damage.campaign(name, options.regions, base)
    for name, one in inputs.inputs(collector.PROJECT, base / "inputs").items():
        yield inputs.campaign(name, one, options.regions)
    for number, fault in enumerate(workflow.strikes() if options.runs else ()):
        yield workflow.campaign(fault, options.runs, collector.PROJECT, base / f"runs-{number}")
    if options.slurm:
        yield slurm.campaign(options.slurm, collector.PROJECT, base / "slurm")


def main() -> None:
    """Write the page, line by line to the terminal as well."""
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("page", type=Path, help="Markdown file to write")
    parser.add_argument("--times", type=int, default=50, help="strikes of each fault")
    parser.add_argument("--regions", type=int, default=100, help="regions of each file")
    parser.add_argument("--runs", type=int, default=50, help="struck runs of the whole workflow")
    parser.add_argument("--slurm", type=int, default=0, help="killed slurmd, where a SLURM answers")
    options = parser.parse_args()
    done: list[Row] = []
    with tempfile.TemporaryDirectory() as base:
        for row in rows(options, Path(base)):
            done.append(row)
            print(table([row])[-1], flush=True)
    page = WORDS + "\n".join(table(done)) + "\n" + REST
    options.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
