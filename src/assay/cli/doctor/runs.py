"""What earlier runs left behind: locks, half-made files, jobs without a Snakemake, dead writers."""

from __future__ import annotations

import base64
import binascii
import getpass
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from assay.cli.doctor.check import Check, Context, ask, listed
from assay.cli.doctor.slurm import UNCONFIGURED
from assay.records.writer import STALE, lease_age, lease_path, read_holder

_RUN = re.compile(r"SLURM run ID: (\S+)")


def runs(context: Context) -> Iterator[Check]:
    """Look at Snakemake's folder, at the queue and at the shards."""
    live = live_runs(context.root)
    yield _lock(context, live)
    yield _incomplete(context)
    yield _orphans(context, live)
    yield _writers(context)


def live_runs(root: Path) -> dict[int, str]:
    """Return process → log of every Snakemake of this machine that now runs in `root`.

    It keeps its log open, so that a process is told from one that only works in the folder. The
    ones inside jobs write to the same place; they end with their jobs.
    """
    logs = str(root.resolve() / ".snakemake" / "log") + os.sep
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*/fd"):
        try:
            targets = [os.readlink(link) for link in folder.iterdir()]
            inside = b"SLURM_JOB_ID=" in (folder.parent / "environ").read_bytes()
        except OSError:
            continue  # it has ended, or is another user's
        log = next((target for target in targets if target.startswith(logs)), None)
        if log is not None and not inside:
            found[int(folder.parent.name)] = log
    return found


def _lock(context: Context, live: dict[int, str]) -> Check:
    name = "snakemake lock"
    locks = list((context.root / ".snakemake" / "locks").glob("*.lock"))
    if live:
        who = listed([str(process) for process in sorted(live)])
        return Check(name, "ok", f"a run is under way here: process {who}")
    if not locks:
        return Check(name, "ok", "none")
    detail = "left by a run that was killed, or by one on another machine"
    advice = "if none runs on another login node: snakemake --unlock, then run again."
    return Check(name, "warn", detail, advice)


def _incomplete(context: Context) -> Check:
    folder = context.root / ".snakemake" / "incomplete"
    files = [_decoded(path, folder) for path in folder.rglob("*") if path.is_file()]
    if not files:
        return Check("incomplete files", "ok", "none")
    advice = "the next run makes them anew (rerun-incomplete); answers in the journal are kept."
    return Check("incomplete files", "warn", listed(sorted(files)), advice)


def _decoded(path: Path, folder: Path) -> str:
    """Return the file that a marker is about: its name in base64, cut into folders where long."""
    parts = path.relative_to(folder).parts
    encoded = "".join(part.removeprefix("@") for part in parts)
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return path.name


def _orphans(context: Context, live: dict[int, str]) -> Check:
    """Look for jobs in the queue whose Snakemake has ended."""
    if shutil.which("squeue", path=context.environment.get("PATH")) is None:
        return Check("orphans", "skipped", "no squeue on PATH")
    form = "--format=%i|%j|%k|%Z"
    said, complaint = ask("squeue", "--noheader", "--user", getpass.getuser(), form)
    if said is None and UNCONFIGURED in complaint:
        return Check("orphans", "skipped", "this machine has no SLURM")
    if said is None:
        return Check("orphans", "wrong", f"squeue does not answer: {complaint}")
    known = {match[1] for log in live.values() if (match := _RUN.search(_text(Path(log))))}
    mine, orphans = [], []
    for line in said.splitlines():
        number, run, comment, folder = line.split("|")
        if comment.startswith("rule_") and Path(folder) == context.root.resolve():
            mine.append(number)
            if run not in known:
                orphans.append(number)
    if not orphans:
        return Check("orphans", "ok", f"{len(mine)} jobs of this folder in the queue")
    detail = f"jobs of a Snakemake that does not run on this machine: {listed(orphans, 20)}"
    advice = (
        "if it does not run on another login node: run again (a job waits for the orphan of its "
        f"shard and takes its answers), or first scancel {' '.join(orphans)}."
    )
    return Check("orphans", "warn", detail, advice)


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace") if path.is_file() else ""


def _writers(context: Context) -> Check:
    """Look for shards that are being written, or whose writer has ended without a word."""
    alive: list[str] = []
    dead: list[str] = []
    shards = context.root / "results" / "records"
    for path in sorted(shards.glob(f"*/*/*/{lease_path(Path()).name}")):
        holder = read_holder(path)
        if holder is None:
            continue
        shard = "/".join(path.parent.parts[-3:])
        ended = holder.gone() or lease_age(path) > STALE
        (dead if ended else alive).append(f"{shard} by {holder.describe()}")
    if dead:
        advice = "nothing must be done: the next run takes over."
        return Check("writers", "warn", f"ended without a word: {listed(dead)}", advice)
    return Check("writers", "ok", f"{len(alive)} now{': ' if alive else ''}{listed(alive)}")
