"""A model that a process of its own keeps loaded between the jobs of one machine.

One job per model and benchmark is what makes a study resumable; loading the same weights for each
of them is what it costs. With `runtime.reuse_s` the first job of a model starts a keeper
(`assay.grid.keeper`), and the next one of that model finds it. A keeper belongs to one user, one
machine, one scheduler's job, and exactly these weights, settings and code.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from assay.core.capability import Capability
from assay.core.errors import ModelError
from assay.core.host import scheduler_job, started
from assay.core.identity import digest
from assay.core.model import Batch, Model, Outcome
from assay.grid.job import backend_version, load_backend
from assay.grid.keeper import Opening, slot_lock
from assay.grid.keepers import Gone, connect, exchange, keeper_folder, start
from assay.models.files import refuse_altered

#: Keepers that may die under one job.
MOST_DEATHS = 3
#: Beginnings of the names of what libraries read from the environment.
_READ = ("VLLM_", "CUDA_", "OMP_", "MKL_", "KMP_", "PYTORCH_", "TORCH", "HF_")


def name_of(
    parameters: str, folder: Path, digests: Mapping[str, str], code: str, options: Mapping[str, Any]
) -> str:
    """Return what names the keeper: 16 hex digits of all that decides what is loaded, and how."""
    value = json.loads(parameters)
    identity = value["identity"]
    engine = identity.get("engine")
    told = {name: text for name, text in os.environ.items() if name.startswith(_READ)}
    weights = [value["model"], identity["model"], dict(digests), str(folder)]
    runtime = [backend_version(identity["backend"], engine), engine, dict(options)]
    return digest([weights, runtime, code, sys.prefix, told, scheduler_job(os.environ)], length=16)


def kept_or_loaded(
    parameters: str,
    folder: Path | None,
    digests: Mapping[str, str],
    *,
    out: Path,
    code: str,
    reuse_s: float,
    **options: Any,
) -> Model:
    """Return the model of a job: a keeper's if `reuse_s` > 0, else loaded here (`load_backend`).

    Parameters
    ----------
    digests : mapping
        Digests of weights, tokenizer and template.
    code : str
        Digest of the code that is run.
    reuse_s : float
        Seconds that the model stays loaded for the next job; a server keeps its own.

    Raises
    ------
    ModelError
        If what lies in `folder` is not what `digests` describe, or the model cannot be loaded.
    """
    if folder is not None:
        refuse_altered(folder, digests)
    if not reuse_s or folder is None:
        return load_backend(parameters, folder, out=out, **options)
    folder = folder.absolute()
    name = name_of(parameters, folder, digests, code, options)
    runner = os.getppid()
    said = Opening(
        parameters, folder, {"out": folder, **options}, reuse_s, (runner, started(runner) or "")
    )
    return KeptModel(keeper_folder(), name, said)


class KeptModel:
    """A model in a keeper (see `assay.core.model.Model`), which is this job's until it ends.

    Parameters
    ----------
    folder : Path
        Of this user's keepers.
    name : str
        Of the keepers of this model. Jobs that ask it at the same time have one each.

    Attributes
    ----------
    capabilities : frozenset of Capability
        What the keeper's runtime can give.
    stats : dict
        What the model has done for this job, and how many jobs it has had.
    """

    capabilities: frozenset[Capability]
    stats: dict[str, Any]

    def __init__(self, folder: Path, name: str, opening: Opening):
        self._opening = opening
        self._deaths = 0
        self._connection: Connection
        places = (folder / f"{name}.{number}.sock" for number in itertools.count())
        self._path, self._lock = next(
            (place, lock) for place in places if (lock := slot_lock(place)) is not None
        )
        self._open()

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        """Have every request of `batch` answered; asked again of another keeper if one dies.

        Raises
        ------
        ModelError
            What the runtime raises; or if keepers die again and again.
        """
        while True:
            try:
                outcomes: Sequence[Outcome]
                outcomes, self.stats = self._asked("answer", batch, max_new_tokens)
                return outcomes
            except Gone:
                self._mourn()
                self._open()

    def close(self) -> None:
        """Leave the keeper to the next job."""
        self._connection.close()
        os.close(self._lock)

    def _open(self) -> None:
        """Find or start a keeper and have it load the model, unless it has."""
        while True:
            try:
                self._connection = connect(self._path) or start(self._path)
                self.capabilities, self.stats = self._asked("open", self._opening)
                return
            except Gone:
                self._mourn()

    def _asked(self, *wish: Any) -> Any:
        """Return the reply to `wish` without its name."""
        kind, *reply = exchange(self._connection, self._path, wish)
        if kind == "refused":
            what, where, fix = reply
            raise ModelError(what, where=where, fix=fix)
        if kind == "broken":
            print(*reply, file=sys.stderr)
            raise ModelError(
                "the process that keeps the model failed (see the log above).",
                where=self._path,
                fix="set runtime.reuse_s to 0 to have every job load its own model.",
            )
        return reply

    def _mourn(self) -> None:
        """Tell of a keeper that died, and give up if there have been too many."""
        self._deaths += 1
        log = self._path.with_suffix(".log")
        last = log.read_text("utf-8", "replace")[-2000:] if log.is_file() else ""
        print(last, "the process that keeps the model ended.", sep="\n", file=sys.stderr)
        if self._deaths > MOST_DEATHS:
            raise ModelError(
                f"{self._deaths} processes that kept the model ended before they answered.",
                where=self._path,
                fix="too little memory is the usual cause; what was answered is kept.",
            )
