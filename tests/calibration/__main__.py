"""Measure the verdicts and write the page: ``PYTHONPATH=tests python -m calibration PAGE``.

All of them, or with ``--only NAME`` (which may be given several times) one, into the page that is
there.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from support import simulation as sim

from .paths import PATHS
from .tables import page, renewed


def _measure(place: tuple[int, int], runs: int) -> dict[str, sim.Rate]:
    path, scenario = place
    return sim.measure(PATHS[path], PATHS[path].scenarios[scenario], runs)


def main() -> None:
    """Measure in as many processes as asked for: no number depends on it."""
    parser = argparse.ArgumentParser(prog="calibration", description=__doc__)
    parser.add_argument("page", type=Path, help="Markdown file to write")
    parser.add_argument("--runs", type=int, default=sim.SLOW)
    parser.add_argument("--cores", type=int, default=1)
    names = [path.name for path in PATHS]
    parser.add_argument(
        "--only", choices=names, action="append", help="a verdict; the rest of the page stays"
    )
    options = parser.parse_args()
    chosen = [p for p, path in enumerate(PATHS) if not options.only or path.name in options.only]
    places = [(p, s) for p in chosen for s in range(len(PATHS[p].scenarios))]
    with ProcessPoolExecutor(options.cores) as pool:
        rates = dict(
            zip(places, pool.map(partial(_measure, runs=options.runs), places), strict=True)
        )
    measured = [
        (PATHS[p], [(scenario, rates[p, s]) for s, scenario in enumerate(PATHS[p].scenarios)])
        for p in chosen
    ]
    if options.only:
        text = renewed(options.page.read_text("utf-8"), measured, options.runs, names)
    else:
        text = page(measured, options.runs)
    options.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
