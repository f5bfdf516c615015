"""One writer a shard, also across machines and where file locks do not work.

Two things decide. A file lock (`flock`), which the kernel drops with its holder: on one machine it
is exact and leaves nothing behind. And a lease, a small file beside the journal that says who
writes (job, host, process) and whose time of change is renewed while its holder lives: on shared
file systems that keep locks to one machine, or have none, its age decides.

A holder that was stopped for long may find that another has taken over. It looks before every
write (`confirm`) and leaves; at worst one batch is written twice, which the journal allows.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from assay.core.errors import RecordError
from assay.core.host import machine
from assay.records.holder import Holder

#: Seconds between two signs of life, and after which silence means death. Network file systems
#: may show a sign up to a minute late.
BEAT = 15.0
STALE = 150.0
#: Seconds between two looks at a shard that another writes.
_PAUSE = 1.0
#: Seconds within which a lease that was taken aside by mistake is back.
_RETURNED = 0.2
#: What file systems say that have no locks.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class WriterLease:
    """The right to write the shard in `folder`, until the block ends or the process does.

    Parameters
    ----------
    folder : Path
        The shard's folder.
    patience : float
        Seconds to wait for another writer before leaving.
    beat, stale : float
        Seconds between signs of life, and after which a silent holder is taken to be dead. All
        writers of a shard must agree on them.
    say : callable, optional
        Called once, with a sentence, before it begins to wait, and when it takes over.

    Raises
    ------
    RecordError
        If another process writes and does not end in time; names it and how to end it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        patience: float = 0.0,
        beat: float = BEAT,
        stale: float = STALE,
        say: Callable[[str], None] | None = None,
    ):
        self.path = lease_path(folder)
        self._lock_path = folder / ".journal.jsonl.lock"
        self._patience, self._beat, self._stale = patience, beat, stale
        self._say = say or (lambda sentence: None)
        self._token = uuid.uuid4().hex
        self._lock: int | None = None
        self._lease: int | None = None
        self._ended = threading.Event()
        self._pulse: threading.Thread | None = None

    def __enter__(self) -> WriterLease:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._wait()
        except OSError as error:
            self._drop_lock()
            raise RecordError(
                f"the shard cannot be written: {error.strerror or error}.",
                where=self.path,
                fix="make its folder writable, or free some space.",
            ) from error
        self._pulse = threading.Thread(target=self._live, name="writer lease", daemon=True)
        self._pulse.start()
        return self

    def _wait(self) -> None:
        """Try until the lease is ours or patience ends."""
        deadline = time.monotonic() + self._patience
        told = False
        while (other := self._try()) is not None:
            if time.monotonic() >= deadline:
                raise RecordError(
                    f"another process is collecting this shard: {other.describe()}.",
                    where=self.path,
                    fix=f"wait for it to finish, or end it: {other.ending()}.",
                )
            if not told:
                self._say(f"waiting: {other.describe()} is collecting this shard.")
                told = True
            time.sleep(min(_PAUSE, self._beat))

    def _try(self) -> Holder | None:
        """Take the lease; return its holder if it cannot be taken."""
        locks = self._take_lock()
        if locks is False:
            return read_holder(self.path) or Holder.unknown()
        for _ in range(2):
            if self._create():
                return None
            holder = read_holder(self.path)
            if holder is None and not self.path.exists():
                continue  # its holder left in this moment
            if not self._dead(holder, exact=locks is True):
                break
            self._say(f"taking over from {(holder or Holder.unknown()).describe()}: it has ended.")
            self._remove(holder.token if holder else "")
        self._drop_lock()
        return holder or Holder.unknown()

    def _take_lock(self) -> bool | None:
        """Lock the shard's lock file: True, False where another has it, None without locks."""
        descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            if error.errno in _NO_LOCKS:
                return None
            raise
        self._lock = descriptor
        return True

    def _create(self) -> bool:
        """Write the lease file if there is none; creating exclusively is atomic on NFS too."""
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o644)
        except FileExistsError:
            return False
        try:
            os.write(descriptor, Holder.here(self._token).to_json())
            os.fsync(descriptor)
        except OSError:
            # A lease that nobody signed would keep the next writer waiting.
            self.path.unlink()
            os.close(descriptor)
            raise
        self._lease = descriptor
        return True

    def _dead(self, holder: Holder | None, *, exact: bool) -> bool:
        """Return whether the holder of the lease file has ended.

        With locks (`exact`) a lease of this very machine that is not locked has no holder. One
        that nobody has signed is being written, or was left by a process killed in the middle.
        """
        if holder is not None:
            if holder.machine == machine() and (exact or holder.gone()):
                return True
            if holder.earlier_run():
                return True
        return lease_age(self.path) > self._stale

    def _remove(self, token: str) -> None:
        """Remove the lease file if it is still the one with `token`."""
        aside = self.path.with_name(f"{self.path.name}.{self._token}")
        try:
            os.rename(self.path, aside)
        except FileNotFoundError:
            return  # another was faster
        found = read_holder(aside)
        if found is not None and found.token != token:
            # Another took over between our look and our rename, and gets its lease back. If a
            # third was faster, the other finds out before it writes.
            with contextlib.suppress(FileExistsError):
                os.link(aside, self.path)
        aside.unlink()

    def _live(self) -> None:
        """Renew the lease until the block ends; a thread of its own, since answering takes long."""
        while not self._ended.wait(self._beat):
            assert self._lease is not None
            # By descriptor: whoever took over keeps the times of its own file.
            os.utime(self._lease)

    def confirm(self) -> None:
        """Make sure that this process is still the writer; call it before every write.

        Raises
        ------
        RecordError
            If another has taken over.
        """
        holder = read_holder(self.path)
        if holder is None:
            # It may be in the hands of one that is about to give it back (`_remove`).
            time.sleep(_RETURNED)
            holder = read_holder(self.path)
        if holder is None or holder.token != self._token:
            by = "has ended since" if holder is None else f"is {holder.describe()}"
            raise RecordError(
                f"this process was silent for more than {self._stale:.0f} s (stopped, or cut off "
                f"from the file system), and the shard was taken over by another, which {by}.",
                where=self.path,
                fix="nothing is lost; run again if the other does not finish.",
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._pulse is not None:
            self._pulse.join()
        if self._lease is not None:
            self._remove(self._token)
            os.close(self._lease)
            self._lease = None
        self._drop_lock()

    def _drop_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def lease_path(folder: Path) -> Path:
    """Return where the lease of the shard in `folder` lies while it is written."""
    return folder / ".journal.jsonl.writer"


def read_holder(path: Path) -> Holder | None:
    """Return who holds the lease in `path`; None if nobody does, or it is being written."""
    try:
        return Holder(**json.loads(path.read_text("utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def lease_age(path: Path) -> float:
    """Return the seconds since the holder of the lease in `path` last gave a sign of life.

    By the clock of the file system, on which all machines agree; 0 if there is no lease.
    """
    try:
        renewed = path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".clock.") as probe:
        return os.fstat(probe.fileno()).st_mtime - renewed
