"""The process that keeps a model loaded between the jobs that ask it.

``python -m assay.grid.keeper SOCKET FD``: started by the first job of a model (`assay.grid.kept`),
which hands it a listening socket. It answers one job after another. It ends when no job has come
for as long as the last one allowed, when the process that ran the jobs (Snakemake) is gone, when a
job of another model asks it to make room, or on SIGTERM; after the batch that it computes, and
never while a job may be about to ask.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError
from assay.core.host import started
from assay.core.termination import Termination
from assay.grid.job import load_backend, unused

#: Seconds between two looks at whether it is time to leave.
_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class Opening:
    """What a job says first.

    Attributes
    ----------
    parameters, folder, options
        As `load_backend` takes them; the same for every job that comes to one keeper.
    idle_s : float
        Seconds that the model stays loaded without a job.
    runner : (int, str)
        The process that runs the jobs, and when it started: the keeper does not outlive it.
    """

    parameters: str
    folder: Path
    options: dict[str, Any]
    idle_s: float
    runner: tuple[int, str]


def slot_lock(socket_path: Path) -> int | None:
    """Take the lock of a keeper's place; None if a job has it.

    Who holds it is the only one that may ask the keeper, or tidy up after it. The kernel drops it
    with its holder; the file stays, since a second file of the same name would be a second lock.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(socket_path.with_suffix(".lock"), flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def tidy(socket_path: Path) -> None:
    """Remove what a keeper that has ended left behind; by the holder of its lock."""
    for suffix in (".sock", ".pid", ".log"):
        socket_path.with_suffix(suffix).unlink(missing_ok=True)


class Keeper:
    """Loads the model for the first job and answers jobs, one at a time."""

    def __init__(self, stop: Termination):
        self.leaving = False
        self._stop = stop
        self._model: Any = None
        self._opening: Opening | None = None
        self._jobs = 0
        self._since = time.monotonic()

    def due(self) -> bool:
        """Return whether it is time to leave, if no job is there."""
        if self.leaving or self._stop.requested or self._opening is None:
            return True
        pid, start = self._opening.runner
        gone = started(pid) != start
        return gone or time.monotonic() - self._since > self._opening.idle_s

    def answer(self, connection: Connection) -> None:
        """Answer one job until it hangs up; a fault is its answer and the end of this process."""
        with suppress(EOFError, ConnectionError):
            try:
                while not (self._stop.requested or self.leaving):
                    connection.send(self._reply(*connection.recv()))
            except AssayError as error:
                self.leaving = True
                connection.send(("refused", error.what, error.where, error.fix))
            except (EOFError, ConnectionError):
                raise
            except Exception:
                self.leaving = True
                traceback.print_exc()
                connection.send(("broken", traceback.format_exc()))
        self._since = time.monotonic()

    def _reply(self, wish: str, *arguments: Any) -> tuple[Any, ...]:
        if wish == "leave":
            self.leaving = True
            return ("left",)
        if wish == "open":
            return self._open(*arguments)
        batch, limit = arguments
        return "answered", self._model.execute(batch, max_new_tokens=limit), self._statistics()

    def _open(self, opening: Opening) -> tuple[Any, ...]:
        self._opening = opening
        if self._model is None:
            self._model = load_backend(opening.parameters, opening.folder, **opening.options)
        else:
            unused(self._model)
        self._jobs += 1
        return "ready", self._model.capabilities, self._statistics()

    def _statistics(self) -> dict[str, Any]:
        return asdict(self._model.stats) | {"jobs_of_this_model": self._jobs}


def serve(listener: socket.socket, path: Path) -> None:
    """Answer the jobs that come to `listener` until it is time to leave."""
    with Termination() as stop:
        keeper = Keeper(stop)
        lock = None
        try:
            while lock is None and not (keeper.leaving or stop.requested):
                if select.select([listener], [], [], _PAUSE)[0]:
                    with Connection(listener.accept()[0].detach()) as connection:
                        keeper.answer(connection)
                elif keeper.due():
                    # With the lock no job can be about to come; without it one is.
                    lock = slot_lock(path)
        finally:
            listener.close()
            lock = slot_lock(path) if lock is None else lock
            if lock is not None:
                tidy(path)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[2])), Path(sys.argv[1]))
