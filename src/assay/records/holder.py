"""Who writes a shard: machine, process and scheduler job, in words that help to find it."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from assay.core.host import machine, process_space, scheduler_job, started
from assay.core.identity import canonical_json


@dataclass(frozen=True, slots=True)
class Holder:
    """The writer of a shard.

    Attributes
    ----------
    token : str
        Of this one lease, at random.
    machine : str
        Host and boot (`core.host.machine`).
    space, pid, start : str, int, str
        The process, and what its number is relative to.
    job, cancel : str
        The scheduler's job and the command that ends one; empty outside of a scheduler.
    restarts : int
        How often the scheduler had put that job back into its queue.
    since : str
        When it took the lease, in UTC.
    """

    token: str
    machine: str
    space: str
    pid: int
    start: str
    job: str = ""
    cancel: str = ""
    restarts: int = 0
    since: str = ""

    @classmethod
    def here(cls, token: str) -> Holder:
        """Return this process as a holder."""
        job, cancel = scheduler_job(os.environ) or ("", "")
        pid = os.getpid()
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        restarts = int(os.environ.get("SLURM_RESTART_COUNT") or 0)
        return cls(
            token,
            machine(),
            process_space(),
            pid,
            started(pid) or "",
            job,
            cancel,
            restarts,
            since,
        )

    @classmethod
    def unknown(cls) -> Holder:
        """Return a holder that has not said yet who it is."""
        return cls("", "", "", 0, "")

    @property
    def host(self) -> str:
        """The name of its machine."""
        return self.machine.partition("/")[0]

    def to_json(self) -> bytes:
        """Return the content of a lease file."""
        return canonical_json(asdict(self)).encode("utf-8") + b"\n"

    def gone(self) -> bool:
        """Return whether its process can be seen to have ended; False where it cannot be seen."""
        if self.machine != machine() or self.space != process_space():
            return False
        return started(self.pid) != self.start

    def earlier_run(self) -> bool:
        """Return whether it is this very job before the scheduler stopped and restarted it."""
        here = Holder.here("")
        return (
            bool(self.job)
            and (self.job, self.cancel) == (here.job, here.cancel)
            and (self.restarts < here.restarts)
        )

    def describe(self) -> str:
        """Say who it is."""
        if not self.pid:
            return "a process that has not said its name yet"
        job = f"job {self.job}, " if self.job else ""
        return f"{job}process {self.pid} on {self.host}, since {self.since}"

    def ending(self) -> str:
        """Say how it is ended."""
        if self.job:
            return f"{self.cancel} {self.job}"
        return f"kill {self.pid} on {self.host}" if self.pid else "look for it with ps"
