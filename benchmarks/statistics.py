"""Time and memory of the statistics, against plain pandas and scipy and against EvalVitals.

Usage: ``python -m benchmarks.statistics [--evalvitals PYTHON] [--paper-only]``

Every number is measured in one run, on the same arrays, each task in a process of its own; times
are processor time, of which other work on the machine takes none.
The other sides do a part of a task (the column says how much) and the rest is extrapolated, since
every part takes as long as another. Without ``--evalvitals``, an interpreter that has it, a virtual
environment is made for it in a temporary folder (from PyPI).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

# Chosen before numpy starts its threads; the children inherit it.
THREADS = os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", THREADS)

import numpy as np  # noqa: E402
from benchmarks.plain_side import (  # noqa: E402
    DRAWS,
    columns_of,
    plain_accuracies,
    plain_conditions,
    plain_gaps,
    plain_pairs,
)

from assay.stats import PairedCounts, cochran_q, mcnemar_exact, paired_difference  # noqa: E402
from assay.stats.resampling import bootstrap_mean_blocks, bootstrap_means  # noqa: E402

PAPER, LARGE = (12, 3679, 26), (500, 20_000, 26)
#: Columns that a large table is resampled in at a time: bounds the memory of the distribution.
COLUMNS = 650
EVALVITALS = "evalvitals==0.1.1"


def table(shape: tuple[int, int, int]) -> np.ndarray:
    """Return made-up outcomes, shape (model, item, configuration), as bytes."""
    models, items, configurations = shape
    rng = np.random.default_rng(1)
    difficulty = rng.normal(0, 1.5, (items, 1)).astype(np.float32)
    right = np.empty(shape, np.uint8)
    for m, ability in enumerate(np.linspace(1.5, 0.3, models, dtype=np.float32)):
        noise = rng.standard_normal((items, configurations), np.float32)
        right[m] = ability - difficulty + noise > 0
    return right


# Our side: every function returns a number that the other sides can be checked against.


def our_accuracies(right: np.ndarray) -> float:
    """Give the interval of every accuracy."""
    low, high = np.percentile(
        bootstrap_means(columns_of(right), draws=DRAWS, seed=1), (2.5, 97.5), axis=0
    )
    return float(low.sum() + high.sum())


def our_gaps(right: np.ndarray) -> float:
    """Give the interval of every pair's gap at the reference, items resampled together."""
    means = bootstrap_means(right[:, :, 0].T, draws=DRAWS, seed=1)
    first, second = np.triu_indices(len(right), 1)
    np.percentile(means[:, second] - means[:, first], (2.5, 97.5), axis=0)
    return float(right[1, :, 0].mean() - right[0, :, 0].mean())


def our_pairs(right: np.ndarray) -> float:
    """Test every pair of models under every configuration, with a score interval."""
    counts = _counts(right)
    paired_difference(counts)
    return float(np.sum(mcnemar_exact(counts).p_value))


def our_conditions(right: np.ndarray) -> float:
    """Compare all configurations of every model."""
    return float(sum(cochran_q(outcomes).statistic for outcomes in right))


def our_large_accuracies(right: np.ndarray) -> float:
    """Give the interval of every accuracy of a table that outgrows memory, columns in blocks."""
    total = 0.0
    for block in _blocks(right):
        draws = np.concatenate(list(bootstrap_mean_blocks(block, draws=DRAWS, seed=1)))
        total += float(np.percentile(draws, (2.5, 97.5), axis=0, overwrite_input=True).sum())
    return total


def our_large_pairs(right: np.ndarray) -> float:
    """Test every pair of models at the reference."""
    return our_pairs(right[:, :, :1])


def _blocks(right: np.ndarray) -> Iterator[np.ndarray]:
    step = COLUMNS // right.shape[2]
    for start in range(0, len(right), step):
        yield columns_of(right[start : start + step])


def _counts(right: np.ndarray) -> PairedCounts:
    """Count every pair; products of 0/1 matrices are exact in single precision."""
    models, items, configurations = right.shape
    first, second = np.triu_indices(models, 1)
    both = np.empty((configurations, first.size), np.int64)
    for c in range(configurations):
        y = right[:, :, c].astype(np.float32)
        both[c] = (y @ y.T)[first, second]
    total = right.sum(axis=1, dtype=np.int64).T
    c, b = total[:, first] - both, total[:, second] - both
    return PairedCounts(both=both, b=b, c=c, neither=items - both - b - c)


@dataclass(frozen=True)
class Task:
    """One comparison; `plain` and `peer` give the other sides' part of the work, and all of it."""

    name: str
    ours: Callable[[np.ndarray], float]
    shape: tuple[int, int, int]
    plain: tuple[Callable[[np.ndarray, int], float], int, int] | None = None
    peer: tuple[str, int, int] | None = None


TASKS = (
    Task("intervals of 312 accuracies", our_accuracies, PAPER, (plain_accuracies, 40, DRAWS)),
    Task(
        "intervals of 66 paired gaps", our_gaps, PAPER,
        (plain_gaps, 2, 66), ("gaps", 50, 66 * DRAWS),
    ),
    Task(
        "exact McNemar, 66 pairs × 26 configurations", our_pairs, PAPER,
        (plain_pairs, 1, 26), ("pairs", 1, 26),
    ),
    Task(
        "26 configurations compared, 12 models", our_conditions, PAPER,
        (plain_conditions, 12, 12), ("conditions", 1, 12),
    ),
    Task(
        "intervals of 13,000 accuracies", our_large_accuracies, LARGE,
        (plain_accuracies, 1, DRAWS),
    ),
    Task("exact McNemar, 124,750 pairs", our_large_pairs, LARGE),
)  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time, peak memory of the process in MiB, and the number to check."""

    seconds: float
    memory: float
    check: float


def measure(run: Callable[[np.ndarray], float], shape: tuple[int, int, int]) -> Cost:
    """Time `run` on the table; making the table is not counted in the time."""
    right = table(shape)
    start = time.process_time()
    check = run(right)
    seconds = time.process_time() - start
    return Cost(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, check)


def alone(run: Callable[[np.ndarray], float], shape: tuple[int, int, int]) -> Cost:
    """Measure in a fresh process, so that the peak of memory is the task's own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, run, shape).result()


def foreign(python: Path, data: Path, task: str, amount: int) -> float:
    """Return the seconds that EvalVitals takes for this amount."""
    script = Path(__file__).with_name("evalvitals_side.py")
    command = [str(python), str(script), str(data), task, str(amount)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def digest() -> str:
    """Return a fingerprint of the resampled means, to compare runs."""
    return hashlib.sha256(bootstrap_means(table(PAPER)[:, :, 0].T, draws=500, seed=1)).hexdigest()


def same_at_any_thread_count() -> bool:
    """Resample with one thread and with several; compare every bit."""
    digests = set()
    for threads in ("1", str(max(2, os.cpu_count() or 2))):
        environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-m", "benchmarks.statistics", "--digest"]
        done = subprocess.run(command, check=True, capture_output=True, env=environment)
        digests.add(done.stdout)
    return len(digests) == 1


def row(task: Task, python: Path | None, data: Path) -> str:
    """Measure one task and return its line of the table."""
    ours = alone(task.ours, task.shape)
    cells = [task.name, " × ".join(f"{n:,}" for n in task.shape)]
    cells += [_seconds(ours.seconds), f"{ours.memory:,.0f} MiB"]
    cells += _plain(task, ours) if task.plain else ["", ""]
    if task.peer and python:
        name, part, whole = task.peer
        cells += _against(foreign(python, data, name, part), part, whole, ours)
    else:
        cells += ["", ""]
    return "| " + " | ".join(cells) + " |"


def _plain(task: Task, ours: Cost) -> list[str]:
    assert task.plain
    run, part, whole = task.plain
    plain = alone(partial(_part, run, part), task.shape)
    if part == whole:
        assert np.isclose(plain.check, ours.check), (plain.check, ours.check)
    return _against(plain.seconds, part, whole, ours)


def _part(run: Callable[[np.ndarray, int], float], part: int, right: np.ndarray) -> float:
    return run(right, part)


def _against(seconds: float, part: int, whole: int, ours: Cost) -> list[str]:
    full = seconds * whole / part
    note = "" if part == whole else f" ({part:,} of {whole:,} measured)"
    return [_seconds(full) + note, f"{full / ours.seconds:,.1f}"]


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"


def interpreter(folder: Path) -> Path:
    """Make a virtual environment with EvalVitals."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", EVALVITALS]
    subprocess.run(command, check=True)
    return python


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.statistics", description=__doc__)
    parser.add_argument("--evalvitals", type=Path, help="an interpreter that has it")
    parser.add_argument("--paper-only", action="store_true", help="leave the large table out")
    parser.add_argument("--digest", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.digest:
        print(digest())
        return
    with tempfile.TemporaryDirectory() as folder:
        python = options.evalvitals or interpreter(Path(folder) / "venv")
        data = Path(folder) / "right.npz"
        np.savez(data, right=table(PAPER))
        print(
            f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
            f"numpy {np.__version__}, threads {THREADS}\n"
        )
        print(
            "| task | model × item × configuration | ours | peak memory "
            "| pandas, scipy | ratio | EvalVitals | ratio |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for task in TASKS:
            if task.shape == PAPER or not options.paper_only:
                print(row(task, python, data), flush=True)
    print(f"\nSame numbers with one thread and with several: {same_at_any_thread_count()}")


if __name__ == "__main__":
    main()
