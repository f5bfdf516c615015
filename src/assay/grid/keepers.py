"""Where this user's keepers are, how one is found, started, asked and sent away.

A keeper (`assay.grid.keeper`) has a place: a socket, the number of its process, a log, and a lock
that the job which uses it holds.
"""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from assay.core.errors import ModelError
from assay.core.host import started
from assay.grid.keeper import slot_lock, tidy

#: Seconds that a keeper may take to end.
_PATIENCE = 30.0
#: Bytes of the folder's name that leave room for that of a socket: a path of 107 in Linux.
_LONGEST = 80


class Gone(Exception):
    """The keeper ended before it answered."""


def keeper_folder() -> Path:
    """Return the folder of this user's keepers, made if there is none.

    ``$ASSAY_KEEPERS``, by default in ``/tmp``: on a disk of this machine, and with a short name,
    since a socket's path may have 100 characters.

    Raises
    ------
    ModelError
        If somebody else could reach into it: what comes from a keeper is believed. Or if its name
        is too long.
    """
    folder = Path(os.environ.get("ASSAY_KEEPERS", f"/tmp/assay-keepers-{os.getuid()}"))
    if len(os.fsencode(folder.absolute())) > _LONGEST:
        raise ModelError(
            f"the name of the folder of kept models is longer than {_LONGEST} bytes.",
            where=folder,
            fix="set ASSAY_KEEPERS to a shorter one on this machine.",
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ModelError(
            "the folder of kept models is not this user's alone.",
            where=folder,
            fix="remove it, or set ASSAY_KEEPERS to a folder of your own (mode 700) on this"
            " machine.",
        )
    return folder.absolute()


def running(path: Path) -> tuple[int, str] | None:
    """Return the process and start of the keeper at `path`, None if there is none that lives."""
    file = path.with_suffix(".pid")
    pid, _, start = file.read_text("ascii").partition(" ") if file.is_file() else ("", "", "")
    return (int(pid), start) if pid and started(int(pid)) == start else None


def connect(path: Path) -> Connection | None:
    """Connect to the keeper at `path`, if one lives; by the holder of its lock."""
    if running(path) is None:
        return None
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        client.close()
        return None
    return Connection(client.detach())


def start(path: Path) -> Connection:
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
    connection = connect(path)
    if connection is None:
        raise Gone
    return connection


def _make_room(folder: Path) -> None:
    """Have keepers that no job uses leave: a model that is asked needs their memory, or GPU."""
    for path in folder.glob("*.sock"):
        lock = slot_lock(path)
        if lock is None:
            continue
        process, connection = running(path), connect(path)
        if process is not None and connection is not None:
            with connection, suppress(Gone):
                exchange(connection, path, ["leave"])
                _wait_for_end(*process)
        tidy(path)
        os.close(lock)


def _wait_for_end(pid: int, start: str) -> None:
    """Wait until a keeper that leaves has ended and given everything back."""
    deadline = time.monotonic() + _PATIENCE
    while started(pid) == start and time.monotonic() < deadline:
        time.sleep(0.05)


def exchange(connection: Connection, path: Path, wish: Sequence[Any]) -> tuple[Any, ...]:
    """Send `wish` and return the reply.

    Raises
    ------
    Gone
        If the keeper ends first. A child of it may hold its end of the connection open, so that
        the process itself is looked at.
    """
    try:
        connection.send(wish)
        while not connection.poll(1.0):
            if running(path) is None:
                raise Gone
        reply: tuple[Any, ...] = connection.recv()
    except (EOFError, ConnectionError) as error:
        raise Gone from error
    return reply
