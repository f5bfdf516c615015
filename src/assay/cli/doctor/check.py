"""What a check says, what it is told, and how it asks other programs."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from assay.config import Study

State = Literal["ok", "warn", "wrong", "skipped"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes
    ----------
    name : str
        What was looked at.
    state : {"ok", "warn", "wrong", "skipped"}
        "wrong" stops a run sooner or later; "skipped" means that nothing here needs it.
    detail : str
        What was found.
    advice : str
        What to do; empty where there is nothing to do.
    """

    name: str
    state: State
    detail: str
    advice: str = ""


@dataclass(frozen=True)
class Context:
    """What the checks are about.

    Attributes
    ----------
    root : Path
        The project's folder, in which Snakemake runs.
    cache : Path
        The folder of downloads and converted weights.
    study : Study or None
        The run file, resolved; None if it is wrong.
    profile : dict
        The profile of the cluster as written, empty without one.
    environment : dict
        The environment variables.
    """

    root: Path
    cache: Path
    study: Study | None = None
    profile: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    @cached_property
    def backends(self) -> set[str]:
        """The backends that the study asks models with."""
        return {plan.backend for plan in self.study.shards.values()} if self.study else set()

    @cached_property
    def gpus(self) -> int:
        """The most GPUs that a job of the study asks for."""
        if self.study is None:
            return 0
        return max(self.study.gpus(model.key) for model in self.study.models)


def ask(*command: str, seconds: float = 15) -> tuple[str | None, str]:
    """Run a program and return what it printed (None if it failed) and what it complained of."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except FileNotFoundError:
        return None, f"{command[0]} is not installed"
    except subprocess.TimeoutExpired:
        return None, f"{command[0]} gave no answer in {seconds:.0f} s"
    complaint = done.stderr.strip().splitlines()
    return (done.stdout if done.returncode == 0 else None), complaint[-1] if complaint else ""


def listed(values: list[str], most: int = 3) -> str:
    """Return the first of `values` and how many more there are."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(values[:most]) + more
