"""SLURM: whether it answers, has what profile and study name, and shows the end of jobs."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.cli.doctor.check import Check, Context, ask, listed

#: What SLURM's programs say where they were only installed.
UNCONFIGURED = "Could not establish a configuration source"
#: What the executor plugin does if the profile says nothing, and the longest pause it makes.
_FIRST_LOOK, _LONGEST_PAUSE = 40, 180
_DAYS = re.compile(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+)$")


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition: its name, the longest job in minutes, and whether it has GPUs."""

    name: str
    default: bool
    minutes: float
    gpus: bool


def slurm(context: Context) -> Iterator[Check]:
    """Look at the SLURM of this machine, if there is one."""
    if shutil.which("sinfo", path=context.environment.get("PATH")) is None:
        yield Check("slurm", "skipped", "no sinfo on PATH")
        return
    said, complaint = ask("sinfo", "--noheader", "--format=%P|%a|%l|%G")
    if said is None and UNCONFIGURED in complaint:
        yield Check("slurm", "skipped", "its programs are installed, and this machine has no SLURM")
        return
    if said is None:
        advice = (
            "without it jobs cannot be submitted, and every start of Snakemake takes 10 s more."
        )
        yield Check("slurm", "wrong", f"does not answer: {complaint}", advice)
        return
    partitions = read_partitions(said)
    yield Check("slurm", "ok", f"partitions: {listed([one.name for one in partitions], 8)}")
    if not context.profile:
        yield Check("profile", "skipped", "no profile for a cluster")
        return
    settings = _settings()
    yield _profile(context, partitions)
    yield from _collect(context, partitions)
    accounted = ask("sacct", "--noheader", "--allocations", "--starttime=now-1hour")[0] is not None
    yield status_of_jobs(context.profile, settings, accounted=accounted)
    yield _accounting(context.profile, works=accounted)
    yield preemption(settings)


def read_partitions(text: str) -> list[Partition]:
    """Read the answer of ``sinfo --format=%P|%a|%l|%G``; a partition may have several lines."""
    found: dict[str, Partition] = {}
    for line in text.splitlines():
        name, state, limit, gres = line.split("|")
        if state != "up":
            continue
        key = name.rstrip("*")
        gpus = "gpu" in gres or (key in found and found[key].gpus)
        found[key] = Partition(key, name.endswith("*"), minutes(limit), gpus)
    return list(found.values())


def minutes(limit: str) -> float:
    """Return a time limit of SLURM in minutes.

    Examples
    --------
    >>> minutes("1-02:00:00"), minutes("30:00"), minutes("infinite")
    (1560.0, 30.0, inf)
    """
    match = _DAYS.match(limit)
    if match is None:
        return math.inf
    days, hours, whole, seconds = (int(part or 0) for part in match.groups())
    return 1440.0 * days + 60 * hours + whole + seconds / 60


def _settings() -> dict[str, str]:
    """Return what ``scontrol show config`` says; empty where it does not answer."""
    said, _ = ask("scontrol", "show", "config")
    pairs = (line.partition("=") for line in (said or "").splitlines())
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}


def named(profile: dict[str, Any], resource: str, rule: str = "") -> str:
    """Return a resource as the profile gives it to `rule`, without quotes; "" if it does not."""
    of_rule = (profile.get("set-resources") or {}).get(rule) or {}
    value = of_rule.get(resource, (profile.get("default-resources") or {}).get(resource, ""))
    return str(value).strip("'\"")


def _profile(context: Context, partitions: list[Partition]) -> Check:
    """Compare the partitions that the profile names with those that exist."""
    rules = ["", *(context.profile.get("set-resources") or {})]
    wanted = {named(context.profile, "slurm_partition", rule) for rule in rules} - {""}
    known = {partition.name for partition in partitions}
    if wanted - known:
        detail = f"the profile names {listed(sorted(wanted - known))}, which is not up here"
        return Check("partitions", "wrong", detail, f"name one of: {listed(sorted(known), 8)}.")
    account = named(context.profile, "slurm_account")
    said = f"account {account or 'not named (SLURM takes your default)'}"
    if not wanted:
        advice = "name yours in profiles/slurm/config.yaml if it is not the default one."
        return Check("partitions", "ok", f"the default one is used; {said}", advice)
    return Check("partitions", "ok", f"{listed(sorted(wanted))}; {said}")


def _collect(context: Context, partitions: list[Partition]) -> Iterator[Check]:
    """Compare what a collect job asks for with what its partition gives."""
    if context.study is None:
        return
    name = named(context.profile, "slurm_partition", "collect")
    place = next((p for p in partitions if (p.name == name if name else p.default)), None)
    if place is None:
        if not name:
            advice = "name a partition in profiles/slurm/config.yaml."
            yield Check("time limit", "wrong", "SLURM has no default partition", advice)
        return
    given = named(context.profile, "runtime", "collect")
    asked = float(given) if given.isdigit() else float(context.study.config.runtime.minutes)
    detail = f"collect asks for {asked:.0f} min, partition {place.name} gives {place.minutes:.0f}"
    if asked > place.minutes:
        advice = "lower runtime.minutes in the run file (answers are kept: the next run goes on)."
        yield Check("time limit", "wrong", detail, advice)
    else:
        yield Check("time limit", "ok", detail)
    if context.gpus and not place.gpus:
        detail = f"collect asks for {context.gpus} GPU(s), and partition {place.name} has none"
        advice = "name a partition with GPUs under set-resources: collect: in the profile."
        yield Check("gres", "wrong", detail, advice)
    elif context.gpus:
        yield Check("gres", "ok", f"partition {place.name} has GPUs")


def status_of_jobs(profile: dict[str, Any], settings: dict[str, str], *, accounted: bool) -> Check:
    """Say whether the end of every job will be seen.

    Parameters
    ----------
    profile : dict
        The profile as written.
    settings : dict
        What ``scontrol show config`` says.
    accounted : bool
        Whether sacct works.
    """
    name = "status of jobs"
    if profile.get("slurm-array-jobs"):
        advice = "remove slurm-array-jobs: the plugin takes one task's state for another's."
        return Check(name, "wrong", "the profile submits arrays", advice)
    if profile.get("slurm-status-command") != "squeue":
        if not accounted:
            detail = "the profile asks sacct, which does not work here: jobs are dropped silently"
            return Check(name, "wrong", detail, "set slurm-status-command: squeue.")
        advice = "set slurm-status-command: squeue."
        return Check(name, "warn", "by sacct: a cancelled job is waited for for ever", advice)
    first = int(profile.get("slurm-init-seconds-before-status-checks", _FIRST_LOOK))
    kept = re.match(r"\d+", settings.get("MinJobAge", ""))
    if kept is None:
        return Check(name, "warn", "scontrol does not tell MinJobAge", "ask your administrators.")
    age, least = int(kept[0]), max(3 * first, _LONGEST_PAUSE)
    detail = f"by squeue, which forgets a job {age} s after its end"
    if age < 3 * first:
        advice = f"set slurm-init-seconds-before-status-checks to {max(age // 3, 1)} or less."
        return Check(name, "warn" if accounted else "wrong", detail, advice)
    if age < least:
        advice = f"ends may be missed between two looks; ask for MinJobAge >= {least}."
        return Check(name, "warn", detail, advice)
    return Check(name, "ok", detail)


def _accounting(profile: dict[str, Any], *, works: bool) -> Check:
    detail = f"sacct {'works' if works else 'does not work'}"
    if works and not profile.get("slurm-efficiency-report"):
        advice = "slurm-efficiency-report: true tells what jobs used of what they asked for."
        return Check("accounting", "ok", detail, advice)
    if not works and profile.get("slurm-efficiency-report"):
        advice = "remove slurm-efficiency-report from the profile: it reads sacct."
        return Check("accounting", "warn", detail, advice)
    return Check("accounting", "ok" if works else "skipped", detail)


def preemption(settings: dict[str, str]) -> Check:
    """Say whether a preempted job is put back into the queue or lost to the plugin."""
    mode = settings.get("PreemptMode", "OFF")
    if "CANCEL" in mode:
        advice = "the plugin waits for such a job for ever: interrupt Snakemake and run again."
        return Check("preemption", "warn", f"preempted jobs are cancelled ({mode})", advice)
    return Check("preemption", "ok", f"mode {mode}")
