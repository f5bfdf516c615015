"""Strike and write the page: ``PYTHONPATH=tests python -m faults docs/reliability.md``."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from faults import collector, damage, inputs, slurm, workflow
from faults.row import Row, table
from support.cluster import answers

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


#: A fault and what strikes.
Campaign = tuple[str, Callable[[], Row]]


def campaigns(options: argparse.Namespace, base: Path) -> Iterator[Campaign]:
    """Yield one fault after the other."""
    for fault in collector.STRIKES:
        yield fault, partial(collector.campaign, fault, options.times, base)
    for name in damage.damaged_files(base):
        yield f"{name} damaged", partial(damage.campaign, name, options.regions, base)

    @cache
    def read() -> dict[str, inputs.Input]:
        return inputs.inputs(collector.PROJECT, base / "inputs")

    for name in inputs.NAMES:
        yield (
            f"{name} damaged",
            lambda name=name: inputs.campaign(name, read()[name], options.regions),
        )
    for number, fault in enumerate(workflow.strikes()):
        folder = base / f"runs-{number}"
        yield fault, partial(workflow.campaign, fault, options.runs, collector.PROJECT, folder)
    if answers():
        folder = base / "slurm"
        yield "slurmd, kill -9", partial(slurm.campaign, options.slurmd, collector.PROJECT, folder)


def main() -> None:
    """Write the page, line by line, and to the terminal as well."""
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("page", type=Path, help="Markdown file to write")
    parser.add_argument("--times", type=int, default=50, help="strikes of each fault")
    parser.add_argument("--regions", type=int, default=100, help="regions of each file")
    parser.add_argument("--runs", type=int, default=50, help="struck runs of the whole workflow")
    parser.add_argument("--slurmd", type=int, default=50, help="runs under killed slurmd")
    parser.add_argument(
        "--only", default="", help="a regular expression: other faults keep their lines"
    )
    options = parser.parse_args()
    old = options.page.read_text("utf-8") if options.page.is_file() else ""
    lines = {line.split(" | ")[0]: line for line in old.splitlines() if line.startswith("| ")}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        for fault, strike in campaigns(options, Path(base)):
            if re.search(options.only, fault):
                lines[f"| {fault}"] = table([strike()])[-1]
                print(lines[f"| {fault}"], flush=True)
                body = [*table([])[:2], *(line for line in lines.values() if line != table([])[0])]
                options.page.write_text(WORDS + "\n".join(body) + "\n" + REST, "utf-8")


if __name__ == "__main__":
    main()
