"""Strike and write the page: ``PYTHONPATH=tests python -m faults docs/reliability.md``."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from faults import collector, damage, workflow
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
allocator refuses halves the batch (`tests/unit/models/test_memory.py`). SLURM's own faults
(preemption, time limits, cancelled jobs) are struck in `tests/slurm`; a killed `slurmd` is not yet.
"""


def rows(options: argparse.Namespace, base: Path) -> Iterator[Row]:
    """Strike one fault after the other."""
    for fault in collector.STRIKES:
        yield collector.campaign(fault, options.times, base)
    for name in damage.damaged_files(base):
        yield damage.campaign(name, options.regions, base)
    for who in ("snakemake and its jobs, kill -9", "snakemake alone, kill -9"):
        if options.runs:
            folder = base / who.split(",")[0].replace(" ", "-")
            yield workflow.campaign(who, options.runs, collector.PROJECT, folder)


def main() -> None:
    """Write the page, line by line to the terminal as well."""
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("page", type=Path, help="Markdown file to write")
    parser.add_argument("--times", type=int, default=50, help="strikes of each fault")
    parser.add_argument("--regions", type=int, default=100, help="regions of each file")
    parser.add_argument("--runs", type=int, default=50, help="killed runs of the whole workflow")
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
