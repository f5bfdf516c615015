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
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from assay.core.capability import Capability
from assay.core.errors import ModelError
from assay.core.host import scheduler_job, started
from assay.core.identity import digest
from assay.core.model import Batch, Model, Outcome
from assay.grid.job import backend_version, load_backend
from assay.grid.keeper import Opening, slot_lock, tidy

#: Keepers that may die under one job.
MOST_DEATHS = 3
#: Seconds that a keeper may take to end.
_PATIENCE = 30.0
#: Beginnings of the names of what libraries read from the environment.
_READ = ("VLLM_", "CUDA_", "OMP_", "MKL_", "KMP_", "PYTORCH_", "TORCH", "HF_")


class _Gone(Exception):
    """The keeper ended before it answered."""


def keeper_folder() -> Path:
    """Return the folder of this user's keepers, made if there is none.

    ``$ASSAY_KEEPERS``, by default in ``/tmp``: on a disk of this machine, and with a short name,
    since a socket's path may have 100 characters.

    Raises
    ------
    ModelError
        If somebody else could reach into it: what comes from a keeper is believed.
    """
    folder = Path(os.environ.get("ASSAY_KEEPERS", f"/tmp/assay-keepers-{os.getuid()}"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ModelError(
            "the folder of kept models is not this user's alone.",
            where=folder,
            fix="remove it, or set ASSAY_KEEPERS to a folder of your own (mode 700) on this"
            " machine.",
        )
    return folder


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
    """
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
            except _Gone:
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
                self._connection = _connection(self._path) or _start(self._path)
                self.capabilities, self.stats = self._asked("open", self._opening)
                return
            except _Gone:
                self._mourn()

    def _asked(self, *wish: Any) -> Any:
        """Return the reply to `wish` without its name."""
        kind, *reply = _exchange(self._connection, self._path, wish)
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


def _running(path: Path) -> tuple[int, str] | None:
    """Return the process and start of the keeper at `path`, None if there is none that lives."""
    file = path.with_suffix(".pid")
    pid, _, start = file.read_text("ascii").partition(" ") if file.is_file() else ("", "", "")
    return (int(pid), start) if pid and started(int(pid)) == start else None


def _connection(path: Path) -> Connection | None:
    """Connect to the keeper at `path`, if one lives; by the holder of its lock."""
    if _running(path) is None:
        return None
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        client.close()
        return None
    return Connection(client.detach())


def _start(path: Path) -> Connection:
    """Start a keeper at `path` and connect to it; by the holder of its lock."""
    _make_room(path.parent)
    tidy(path)
    with socket.socket(socket.AF_UNIX) as listener, path.with_suffix(".log").open("wb") as log:
        # Listening before the process is there: nobody has to wait for it to be ready.
        listener.bind(str(path))
        listener.listen()
        keeper = subprocess.Popen(
            [sys.executable, "-m", "assay.grid.keeper", str(path), str(listener.fileno())],
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # neither the job's end nor Ctrl-C is its end
        )
        path.with_suffix(".pid").write_text(f"{keeper.pid} {started(keeper.pid)}", "ascii")
    connection = _connection(path)
    if connection is None:
        raise _Gone
    return connection


def _make_room(folder: Path) -> None:
    """Have keepers that no job uses leave: a model that is asked needs their memory, or GPU."""
    for path in folder.glob("*.sock"):
        lock = slot_lock(path)
        if lock is None:
            continue
        running, connection = _running(path), _connection(path)
        if running is not None and connection is not None:
            with connection, suppress(_Gone):
                _exchange(connection, path, ["leave"])
                _wait_for_end(*running)
        tidy(path)
        os.close(lock)


def _wait_for_end(pid: int, start: str) -> None:
    """Wait until a keeper that leaves has ended and given everything back."""
    deadline = time.monotonic() + _PATIENCE
    while started(pid) == start and time.monotonic() < deadline:
        time.sleep(0.05)


def _exchange(connection: Connection, path: Path, wish: Sequence[Any]) -> tuple[Any, ...]:
    """Send `wish` and return the reply.

    Raises
    ------
    _Gone
        If the keeper ends first. A child of it may hold its end of the connection open, so that
        the process itself is looked at.
    """
    try:
        connection.send(wish)
        while not connection.poll(1.0):
            if _running(path) is None:
                raise _Gone
        reply: tuple[Any, ...] = connection.recv()
    except (EOFError, ConnectionError) as error:
        raise _Gone from error
    return reply
