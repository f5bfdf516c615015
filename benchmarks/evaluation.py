"""Time and memory of the evaluation core on a million made-up attempts, or on a large log.

Usage: ``python benchmarks/evaluation.py [RECORDS | --gigabytes N [--scratch FOLDER]]``

Columns: attempts; seconds of making the records as validated objects (which is not the core's
work), of collecting them as columns, and of the diagnosis or the comparison; attempts a second from
records to result; peak memory of the process (VmHWM), which began at the number in brackets.
Each line is a process of its own. With ``--gigabytes`` a log of plain records of that size, two
arms one after the other, is written to the scratch folder (and deleted afterwards), streamed into
columns, diagnosed as a whole, and its arms compared; the peak of each step is counted anew.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import IO

import numpy as np

from assay.evaluation.adapters import Reading, read_records
from assay.evaluation.diagnosis import diagnose_table
from assay.evaluation.experiment import compare_tables
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.policy import load_policy
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.table import Table

TASKS, TAGS, AREAS = 5_000, 30, 8
LINE = "{:<28} {:>10} {:>8} {:>8} {:>8} {:>10} {:>18}"
STEP = "{:<10} {:>12} {:>9} {:>12} {:>9} {:>16}"
STEPS = ("step", "records", "seconds", "records/s", "MB/s", "peak memory")
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


def write(file: IO[bytes], size: int) -> None:
    """Write plain records, `size` bytes at least: half of a baseline, half of a candidate."""
    done = 0
    for arm, seed in (("baseline", 1), ("candidate", 2)):
        limit, start = size * seed // 2, 0
        rng = np.random.default_rng(seed)
        while done < limit:
            number = np.arange(start, start + 10_000)
            success = rng.random(number.size) < 0.5 + 0.4 * (number % TASKS) / TASKS
            took, read = rng.lognormal(9, 1, number.size), rng.integers(1_000, 100_000, number.size)
            facts = zip(
                number.tolist(), success.tolist(), took.tolist(), read.tolist(), strict=True
            )
            done += file.write("".join(line(arm, *fact) for fact in facts).encode())
            start += number.size


def line(arm: str, k: int, success: bool, took: float, read: int) -> str:
    """Return one plain record."""
    task, code = k % TASKS, "null" if success else '"FUNCTIONAL_VERIFIER_FAILED"'
    return (
        f'{{"taskId":"task-{task}","trialId":"{arm}-{k}","attempt":{1 + k // TASKS},'
        f'"variant":"{arm}","taskArea":"area-{task % AREAS}",'
        f'"capabilityTags":["tag-{task % TAGS}","tag-{task // TAGS % TAGS}"],'
        f'"success":{str(success).lower()},"score":{int(success)},"failureCode":{code},'
        f'"safetyEvaluated":true,"safetyViolation":false,"latencyMs":{took},'
        f'"costUsd":{read / 1e6},"inputTokens":{read},"outputTokens":500,'
        f'"totalTokens":{read + 500},'
        f'"resultPath":"{arm}/task-{task}/{k}/result.json"}}\n'
    )


def streaming(path: Path) -> None:
    """Read, diagnose and compare the log in `path`, and print what each step took."""
    size, policy = path.stat().st_size, load_policy()
    print(STEP.format(*STEPS), flush=True)
    reading = Reading()
    begun = start()
    table = Table.of(read_records(path, reading=reading))
    count = len(table)
    print(step("read", count, begun, size), flush=True)
    begun = start()
    diagnose_table(table, policy)
    print(step("diagnose", count, begun, size), flush=True)
    arm = [table.codes["variant"] == code for code in range(2)]
    arms = [table.take(rows) for rows in arm]
    del table
    begun = start()
    target = ImprovementHypothesis(id="one", capability_tags=("tag-0",))
    compare_tables(target, arms[0], arms[1], policy)
    print(step("compare", count, begun, size), flush=True)
    print(f"SHA-256 of the {size:,} bytes: {reading.inputs.files[path].sha256}")


def start() -> float:
    """Count the peak memory of this process anew, and return the time."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return time.perf_counter()


def step(name: str, count: int, begun: float, size: int) -> str:
    """Return one line of the table of steps."""
    took = time.perf_counter() - begun
    peak = f"{memory('VmHWM'):,.0f} MiB"
    speed, rate = f"{count / took:,.0f}", f"{size / took / 1e6:,.1f}"
    return STEP.format(name, f"{count:,}", f"{took:.1f}", speed, rate, peak)


def stream(gigabytes: float, scratch: Path | None) -> None:
    """Write a log to a scratch folder and let a process of its own read it."""
    with tempfile.TemporaryDirectory(prefix="assay-", dir=scratch) as folder:
        path = Path(folder) / "records.jsonl"
        begun = time.perf_counter()
        with path.open("wb") as file:
            write(file, int(gigabytes * 1e9))
        print(f"Writing {path.stat().st_size:,} bytes: {time.perf_counter() - begun:.0f} s")
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            pool.submit(partial(streaming, path)).result()


def main() -> None:
    """Print a line for each work, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--gigabytes", type=float, help="size of a log to stream instead")
    parser.add_argument("--scratch", type=Path, help="folder with room for it")
    options = parser.parse_args()
    if options.gigabytes is not None:
        stream(options.gigabytes, options.scratch)
        return
    count = options.records
    print(LINE.format(*HEADER))
    for work, share in ((diagnosing, 1), (comparing, 2)):
        for policy in ("statistical", "equaxis-v1"):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                found = pool.submit(work, count // share, policy).result()
            print(LINE.format(*found), flush=True)


if __name__ == "__main__":
    main()
