"""Time and memory of the evaluation core on a million made-up attempts.

Usage: ``python benchmarks/evaluation.py [RECORDS]``

Columns: attempts; seconds of making the records as validated objects (which is not the core's
work), of collecting them as columns, and of the diagnosis or the comparison; attempts a second from
records to result; peak memory of the process (VmHWM), which began at the number in brackets.
Each line is a process of its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from assay.evaluation.diagnosis import diagnose_table
from assay.evaluation.experiment import compare_tables
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import load_policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.table import Table

TASKS, TAGS, AREAS = 5_000, 30, 8
LINE = "{:<28} {:>10} {:>8} {:>8} {:>8} {:>10} {:>18}"
HEADER = ("work", "attempts", "making", "columns", "result", "attempts/s", "peak memory")


def records(count: int, seed: int) -> Iterator[EvaluationRecord]:
    """Yield `count` attempts at 5,000 tasks of 30 capabilities, two a task."""
    rng = np.random.default_rng(seed)
    rate = np.random.default_rng(0).beta(2, 1, TASKS)
    for start in range(0, count, 10_000):
        number = np.arange(start, min(start + 10_000, count))
        task = number % TASKS
        success = rng.random(task.size) < rate[task]
        latency = rng.lognormal(9, 1, task.size)
        tokens = rng.integers(1_000, 100_000, task.size)
        facts = zip(number.tolist(), task.tolist(), success.tolist(), latency, tokens, strict=True)
        for k, t, passed, took, read in facts:
            yield EvaluationRecord(
                task_id=f"task-{t}",
                trial_id=f"trial-{seed}-{k}",
                attempt=1 + k // TASKS,
                task_area=f"area-{t % AREAS}",
                capability_tags=(f"tag-{t % TAGS}", f"tag-{t // TAGS % TAGS}"),
                success=passed,
                failure_code=None if passed else "FUNCTIONAL_VERIFIER_FAILED",
                failure_class=None if passed else "capability",
                safety_evaluated=True,
                safety_violation=k % 100 == 0,
                latency_ms=float(took),
                cost_usd=read * 1e-6,
                input_tokens=int(read),
                output_tokens=500,
            )


def memory(key: str) -> float:
    """Return a number of MiB from the kernel's account of this process."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split(f"{key}:")[1].split()[0]) / 1024


def columns(count: int, seed: int) -> tuple[Table, float, float]:
    """Return the attempts as columns, and the seconds of making records and of collecting them."""
    begun = time.perf_counter()
    for _ in records(count, seed):
        pass
    made = time.perf_counter() - begun
    begun = time.perf_counter()
    table = Table.of(records(count, seed))
    return table, made, time.perf_counter() - begun - made


def diagnosing(count: int, policy: str) -> list[str]:
    """Diagnose `count` attempts."""
    before = memory("VmRSS")
    table, made, collected = columns(count, 1)
    begun = time.perf_counter()
    diagnose_table(table, load_policy(policy))
    took = time.perf_counter() - begun
    return row(f"diagnose, {policy}", count, made, collected, took, before)


def comparing(count: int, policy: str) -> list[str]:
    """Compare two arms of `count` attempts each."""
    before = memory("VmRSS")
    arms = [columns(count, seed) for seed in (1, 2)]
    begun = time.perf_counter()
    target = ImprovementHypothesis(id="one", capability_tags=("tag-0",))
    compare_tables(target, arms[0][0], arms[1][0], load_policy(policy))
    took = time.perf_counter() - begun
    made, collected = (sum(arm[k] for arm in arms) for k in (1, 2))
    return row(f"compare, {policy}", 2 * count, made, collected, took, before)


def row(
    work: str, count: int, made: float, collected: float, took: float, before: float
) -> list[str]:
    """Return one line of the table."""
    peak = f"{memory('VmHWM'):,.0f} MiB ({before:,.0f})"
    speed = f"{count / (collected + took):,.0f}"
    times = [f"{seconds:.1f}" for seconds in (made, collected, took)]
    return [work, f"{count:,}", *times, speed, peak]


def main() -> None:
    """Print a line for each work, in a process of its own."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(LINE.format(*HEADER))
    for work, share in ((diagnosing, 1), (comparing, 2)):
        for policy in ("statistical", "equaxis-v1"):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                found = pool.submit(work, count // share, policy).result()
            print(LINE.format(*found), flush=True)


if __name__ == "__main__":
    main()
