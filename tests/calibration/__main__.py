"""Measure every verdict and write the page: ``PYTHONPATH=tests python -m calibration PAGE``."""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from support import simulation as sim

from .paths import PATHS
from .tables import page


def _measure(place: tuple[int, int], runs: int) -> dict[str, sim.Rate]:
    path, scenario = place
    return sim.measure(PATHS[path], PATHS[path].scenarios[scenario], runs)


def main() -> None:
    """Measure in as many processes as asked for: no number depends on it."""
    parser = argparse.ArgumentParser(prog="calibration", description=__doc__)
    parser.add_argument("page", type=Path, help="Markdown file to write")
    parser.add_argument("--runs", type=int, default=sim.SLOW)
    parser.add_argument("--cores", type=int, default=1)
    options = parser.parse_args()
    places = [(p, s) for p, path in enumerate(PATHS) for s in range(len(path.scenarios))]
    with ProcessPoolExecutor(options.cores) as pool:
        rates = dict(
            zip(places, pool.map(partial(_measure, runs=options.runs), places), strict=True)
        )
    measured = [
        (path, [(scenario, rates[p, s]) for s, scenario in enumerate(path.scenarios)])
        for p, path in enumerate(PATHS)
    ]
    options.page.write_text(page(measured, options.runs), encoding="utf-8")


if __name__ == "__main__":
    main()
