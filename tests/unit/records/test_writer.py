"""Real processes, `kill -9` and SIGSTOP: a shard has one writer, and never none for long."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import RecordError
from assay.core.host import machine, started
from assay.records.holder import Holder
from assay.records.journal import Journal
from assay.records.writer import WriterLease, lease_age, lease_path, read_holder
from support.small_disk import run_with_small_disk

PROGRAM = Path(__file__).parent / "writer_process.py"
Start = Callable[..., "subprocess.Popen[str]"]
PATIENCE = 30
#: A machine of its own for each process, and file locks that do not work: only the lease decides.
APART = {"locks": False, "beat": 0.1, "stale": 1.0}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[subprocess.Popen[str]] = []

    def begin(environment: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, str(PROGRAM), str(tmp_path), str(tmp_path / "events")]
        process = subprocess.Popen(
            [*command, json.dumps(options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "SLURM_JOB_ID": "", **(environment or {})},
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def has(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    """Wait until `process` has the lease."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "has\n", process.stderr.read() if process.stderr else ""
    return process


def left(process: subprocess.Popen[str]) -> str:
    """Return what `process` said when it left without the lease."""
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, said
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("options", [{}, APART], ids=["locks", "no locks"])
def test_the_second_leaves_and_names_the_first(start: Start, options: dict[str, Any]) -> None:
    first = has(start({"SLURM_JOB_ID": "4711"}, **options))
    said = left(start(**options))
    assert f"another process is collecting this shard: job 4711, process {first.pid} on" in said
    assert "Fix: wait for it to finish, or end it: scancel 4711." in said


@pytest.mark.parametrize("options", [{}, APART], ids=["locks", "no locks"])
def test_a_killed_writer_is_followed_at_once(start: Start, options: dict[str, Any]) -> None:
    first = has(start(**options | {"stale": 1000}))
    first.kill()
    first.wait()
    began = time.monotonic()
    has(start(**options | {"stale": 1000}))
    assert time.monotonic() - began < PATIENCE / 2


def test_the_second_waits_and_goes_on(start: Start, tmp_path: Path) -> None:
    has(start(hold=1.0))
    second = start(hold=0, patience=PATIENCE)
    has(second)
    assert "waiting: process" in second.communicate(timeout=PATIENCE)[1]
    events = [line.split()[:2] for line in (tmp_path / "events").read_text().splitlines()]
    assert [event for event, _ in events if event != "wrote"] == ["took", "gave"] * 2


def test_on_another_machine_only_silence_means_death(start: Start, tmp_path: Path) -> None:
    far = has(start(machine="far/1", **APART))
    assert "on far, since" in left(start(machine="near/1", **APART))
    time.sleep(1.2)  # longer than `stale`: it was kept alive by its beat
    assert "on far, since" in left(start(machine="near/1", **APART))
    far.kill()
    far.wait()
    assert "on far, since" in left(start(machine="near/1", **APART)), "it cannot know so soon"
    near = start(machine="near/1", hold=0, patience=PATIENCE, **APART)
    has(near)
    assert "taking over from process" in near.communicate(timeout=PATIENCE)[1]
    assert not lease_path(tmp_path).exists()


def test_who_was_stopped_for_long_leaves_the_shard_to_its_follower(
    start: Start, tmp_path: Path
) -> None:
    stopped = has(start(machine="far/1", **APART))
    stopped.send_signal(signal.SIGSTOP)
    follower = has(start(machine="near/1", patience=PATIENCE, **APART))
    stopped.send_signal(signal.SIGCONT)
    said = left(stopped)
    assert f"was taken over by another, which is process {follower.pid} on near" in said
    assert follower.poll() is None
    holder = read_holder(lease_path(tmp_path))
    assert holder is not None
    assert holder.pid == follower.pid, "leaving took nothing away"


@pytest.mark.parametrize("locks", [True, False])
def test_many_who_find_a_dead_writer_become_one(start: Start, tmp_path: Path, locks: bool) -> None:
    lease_path(tmp_path).write_bytes(Holder("x", "gone/1", "", 1, "").to_json())
    os.utime(lease_path(tmp_path), (1, 1))
    options = APART | {"locks": locks, "stale": 20.0, "patience": PATIENCE, "hold": 0.05}
    writers = [start(machine=f"m{number}/1", **options) for number in range(6)]
    for process in writers:
        has(process)
        assert process.wait(PATIENCE) == 0
    lines = [line.split() for line in (tmp_path / "events").read_text().splitlines()]
    ordered = [event for event, _, _ in sorted(lines, key=lambda line: int(line[2]))]
    assert [event for event in ordered if event != "wrote"] == ["took", "gave"] * 6


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, APART], ids=["locks", "no locks"])
def test_writers_killed_at_random_never_write_side_by_side(
    start: Start, tmp_path: Path, options: dict[str, Any]
) -> None:
    rng = random.Random(7)
    options = options | {"hold": 0.3, "patience": PATIENCE, "stale": 2.0, "beat": 0.2}
    alive: list[subprocess.Popen[str]] = []
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        alive = [process for process in alive if process.poll() is None]
        while len(alive) < 4:
            machine = {"machine": f"m{rng.random()}/1"} if options.get("locks") is False else {}
            alive.append(start(**options | machine))
        time.sleep(rng.uniform(0.05, 0.5))
        rng.choice(alive).kill()
    for process in alive:
        process.wait(PATIENCE)
    spans: dict[str, list[int]] = {}
    for line in (tmp_path / "events").read_text().splitlines():
        _, process_id, moment = line.split()
        spans.setdefault(process_id, []).append(int(moment))
    ordered = sorted(spans.values())
    assert len(ordered) >= 5, "after a kill the next one came"
    pairs = zip(ordered, ordered[1:], strict=False)
    assert all(before[-1] < after[0] for before, after in pairs)


def test_a_requeued_job_follows_itself(start: Start, tmp_path: Path) -> None:
    job = {"SLURM_JOB_ID": "12"}
    before = has(start(job, machine="far/1", **APART | {"stale": 1000}))
    again = start(job | {"SLURM_RESTART_COUNT": "1"}, machine="near/1", **APART | {"stale": 1000})
    has(again)
    assert "taken over" in left(before)


def test_a_lease_that_nobody_signed_is_outlived(start: Start, tmp_path: Path) -> None:
    lease_path(tmp_path).touch()
    assert "has not said its name" in left(start(machine="near/1", **APART | {"stale": 1000}))
    os.utime(lease_path(tmp_path), (1, 1))
    has(start(machine="near/1", **APART))


def test_nothing_is_appended_after_the_shard_was_taken_over(tmp_path: Path) -> None:
    with WriterLease(tmp_path) as lease:
        journal = Journal(tmp_path / "journal.jsonl", guard=lease.confirm)
        journal.append([{"key": "a"}])
        lease_path(tmp_path).write_bytes(Holder("x", "far/1", "", 77, "").to_json())
        before = journal.path.read_bytes()
        with pytest.raises(RecordError, match="taken over by another, which is process 77 on far"):
            journal.append([{"key": "b"}])
        assert journal.path.read_bytes() == before
        assert "b" not in journal
    assert lease_path(tmp_path).exists(), "it belongs to the other"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "shard"
    with WriterLease(folder):
        holder = read_holder(lease_path(folder))
        assert holder is not None
        assert (holder.pid, holder.machine) == (os.getpid(), machine())
        assert holder.start == started(os.getpid())
        assert lease_age(lease_path(folder)) < 5
    assert [path.name for path in folder.iterdir()] == [".journal.jsonl.lock"]


def test_a_full_disk_leaves_no_lease(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from assay.core.errors import RecordError
from assay.records.writer import WriterLease
folder = Path(sys.argv[1])
try:
    with (folder / "full").open("wb") as stream:
        stream.write(b"x" * 10**6)
except OSError:
    pass
try:
    WriterLease(folder).__enter__()
except RecordError as error:
    print(error, sorted(path.name for path in folder.iterdir()))
"""
    done = run_with_small_disk(tmp_path / "disk", 64, code, str(tmp_path / "disk"))
    assert "cannot be written: No space left on device" in done.stdout, done.stderr
    assert "['.journal.jsonl.lock', 'full']" in done.stdout


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="the shard cannot be written: Not a directory"):
        WriterLease(tmp_path / "file" / "shard").__enter__()
