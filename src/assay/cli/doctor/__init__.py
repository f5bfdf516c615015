"""What is missing or wrong on this machine or cluster, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.cli.doctor.check import Check, Context
from assay.cli.doctor.compute import driver, leases, torch
from assay.cli.doctor.hub import hub
from assay.cli.doctor.runs import runs
from assay.cli.doctor.slurm import slurm
from assay.cli.doctor.software import browser, locks, packages, python
from assay.cli.doctor.storage import storage
from assay.config import load_study
from assay.config.registry import read_yaml
from assay.core.cache import cache_root
from assay.core.errors import AssayError

__all__ = ["Check", "Context", "examine"]


def examine(files: Sequence[Path], profile: Path, root: Path) -> list[Check]:
    """Look at everything that a run of the study needs.

    Parameters
    ----------
    files : sequence of Path
        Run files, later ones over earlier ones.
    profile : Path
        The folder of the cluster's profile; it need not exist.
    root : Path
        The project's folder.
    """
    study, problem = None, ""
    try:
        study = load_study(*files)
    except AssayError as error:
        problem = str(error)
    settings = profile / "config.yaml"
    context = Context(
        root=root,
        cache=cache_root(),
        study=study,
        profile=read_yaml(settings) if settings.is_file() else {},
        environment=dict(os.environ),
    )
    if problem:
        first = Check("run file", "wrong", problem, "mend it; the checks that need it are skipped.")
    else:
        first = Check("run file", "ok", " + ".join(map(str, files)))
    return [first, *_checks(context)]


def _checks(context: Context) -> Iterator[Check]:
    yield python(context)
    yield from packages(context)
    yield locks(context)
    yield torch(context)
    yield driver(context)
    yield leases(context)
    yield from storage(context)
    yield hub(context)
    yield from slurm(context)
    yield from runs(context)
    yield browser(context)
