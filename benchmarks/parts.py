"""Time and memory of a whole leaderboard analysis, part by part.

Usage: ``python -m benchmarks.parts [MODELS ITEMS [BENCHMARKS]]``

The outcomes are drawn, the analysis is the one of ``assay analyze``: every finding, every table
and figure's numbers, written to a temporary folder. Times are processor time, of which other work
on the machine takes none; memory is the peak of the process (VmHWM).
"""

from __future__ import annotations

import cProfile
import os
import pstats
import re
import sys
import tempfile
import time
from pathlib import Path

# Chosen before numpy starts its threads.
THREADS = os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", THREADS)

import numpy as np  # noqa: E402

from assay.grid.configuration import Configuration  # noqa: E402
from assay.leaderboard.analysis import analyze_correctness, write  # noqa: E402
from assay.leaderboard.correctness import Correctness, Item  # noqa: E402
from assay.records.schema import STATUSES  # noqa: E402

PAPER = (12, 3679)
FORMATS = ("digit_labels", "instruction", "letter_paren", "letter_plain")
ORDERS = ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2), (3, 2, 1, 0), (1, 0, 3, 2))
GENERATED = len(FORMATS) * len(ORDERS)
#: What is timed: functions of the analysis that do not call each other.
_PARTS = r"assay/leaderboard/(\w+)\.py"
#: Parts that cost less are added up.
_SMALL = 0.01


def outcomes(models: int, items: int, benchmarks: int) -> Correctness:
    """Draw a complete leaderboard of 26 configurations, models of falling ability."""
    rng = np.random.default_rng(1)
    gold = rng.integers(4, size=items)
    keys = [f"gen|{f}|p{p}" for f in FORMATS for p in range(len(ORDERS))]
    ways = [Configuration(*key.split("|")) for key in keys]
    ways += [Configuration("ll", stem, None) for stem in ("cloze_plain", "cloze_question")]
    slot_of = np.argsort(np.array(ORDERS), axis=1).astype(np.int8)
    gold_slots = np.full((items, len(ways)), -1, np.int8)
    gold_slots[:, :GENERATED] = np.tile(slot_of[:, gold].T, len(FORMATS))
    right, slots = _draw(models, gold_slots, rng)
    names = [f"benchmark-{k * benchmarks // items:02d}" for k in range(items)]
    return Correctness(
        models=tuple(f"model-{m:03d}" for m in range(models)),
        items=tuple(
            Item(name, f"item-{k:05d}", f"item-{k:05d}", f"subject-{k % 7}", 4)
            for k, name in enumerate(names)
        ),
        configurations=tuple(ways),
        reference=keys.index("gen|letter_plain|p0"),
        values=right.view(np.uint8),
        statuses=np.full(right.shape, STATUSES.index("ok"), np.uint8),
        slots=slots,
        gold_slots=gold_slots,
        labels={name: "digit" if name == "digit_labels" else "upper" for name in FORMATS},
    )


def _draw(
    models: int, gold_slots: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return who was right and the position that each generation chose, model by model."""
    items, ways = gold_slots.shape
    right = np.empty((models, items, ways), bool)
    slots = np.full(right.shape, -1, np.int8)
    difficulty = rng.normal(0, 1.5, (items, 1)).astype(np.float32)
    level = rng.normal(0, 0.4, ways).astype(np.float32)
    for m, ability in enumerate(np.linspace(1.5, 0.3, models, dtype=np.float32)):
        own = rng.normal(0, 0.2, ways).astype(np.float32)
        noise = rng.standard_normal((items, ways), np.float32)
        right[m] = ability - difficulty + level + own + noise > 0
        off = rng.integers(1, 4, (items, GENERATED), np.int8)
        asked = gold_slots[:, :GENERATED]
        slots[m, :, :GENERATED] = np.where(right[m, :, :GENERATED], asked, (asked + off) % 4)
    return right, slots


def main() -> None:
    """Print the table of parts."""
    models, items = (int(word) for word in sys.argv[1:3]) if sys.argv[2:] else PAPER
    benchmarks = int(sys.argv[3]) if sys.argv[3:] else 1
    data = outcomes(models, items, benchmarks)
    before = _peak()
    profile = cProfile.Profile(time.process_time)
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        profile.enable()
        found = analyze_correctness(data, study="parts", seed=1)
        paths = write(found, Path(folder))
        profile.disable()
        size = sum(path.stat().st_size for path in paths)
    whole = time.process_time() - start
    print(f"{models} models × {items:,} items × 26 configurations, {benchmarks} benchmarks\n")
    print("| part | CPU s |\n|---|---|")
    rest = whole
    for name, seconds in _parts(profile):
        if seconds >= _SMALL * whole:
            print(f"| {name} | {seconds:.2f} |")
            rest -= seconds
    print(f"| everything else | {rest:.2f} |\n| **whole** | **{whole:.2f}** |\n")
    print(f"Peak memory {_peak():,} MiB (the data alone {before:,}); ", end="")
    print(f"{len(paths)} files of {size / 2**20:,.0f} MiB; {THREADS} thread.")


def _parts(profile: cProfile.Profile) -> list[tuple[str, float]]:
    """Return the parts that the analysis calls itself, the slowest first."""
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    seconds: dict[str, float] = {}
    for (path, _, name), (*_, callers) in stats.items():
        module = re.search(_PARTS, path)
        for (caller, _, _), (*_, cumulative) in callers.items():
            calls = re.search(_PARTS, caller)
            top = calls and calls[1] in ("analysis", "findings")
            if top and module and module[1] not in ("analysis", "findings"):
                part = f"`{module[1]}.{name}`"
                seconds[part] = seconds.get(part, 0.0) + cumulative
    return sorted(seconds.items(), key=lambda pair: -pair[1])


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) // 1024


if __name__ == "__main__":
    main()
