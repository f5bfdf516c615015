"""The process of a vLLM engine: how its death is heard of, and how it is ended."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Collection
from multiprocessing.connection import wait
from threading import Thread
from typing import Any

#: Seconds that the threads here may take to end after the engine's process has.
_PATIENCE = 10.0
#: Seconds that an engine without work may take to end by itself.
_GRACE = 1.0
#: Waits for the end of its standard input, which is that of the process that holds the other end,
#: and kills the processes named. A pidfd means the process and not a later one of its number.
_GUARD = """
import contextlib, os, signal, sys
engines = []
for pid in sys.argv[1:]:
    with contextlib.suppress(ProcessLookupError):
        engines.append(os.pidfd_open(int(pid)))
sys.stdin.buffer.read()
for engine in engines:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(engine, signal.SIGKILL)
"""


def guard(client: Any) -> subprocess.Popen[bytes]:
    """Start what ends an engine's processes when this process is killed; they would live on.

    An orphaned engine would hold its memory, or GPU, for ever. It is told by a pipe, which the
    kernel closes with this process, however it ends.
    """
    engines = [str(process.pid) for process in client.resources.engine_manager.processes]
    return subprocess.Popen(
        [sys.executable, "-S", "-c", _GUARD, *engines],
        stdin=subprocess.PIPE,
        start_new_session=True,  # what is meant for this process's group is not meant for it
    )


def end_client(client: Any, serving: Collection[Thread], guarding: subprocess.Popen[bytes]) -> None:
    """End an engine's process, then wait for the threads here that served it.

    A thread that is still in native code when the interpreter ends takes the process down with it
    (`terminate called without an active exception`), after all the work was done.
    """
    client.shutdown(_GRACE)
    guarding.communicate()
    deadline = time.monotonic() + _PATIENCE
    for thread in serving:
        thread.join(max(0.0, deadline - time.monotonic()))


def wake_at_death(client: Any) -> None:
    """Make those that wait for the engine's outputs or replies hear of its death.

    vLLM 0.32 notices a process that was killed (by the system, for its memory) and closes its
    sockets, but leaves the reader of the queue, and a call to the engine, waiting for ever.
    """
    from vllm.v1.engine.exceptions import EngineDeadError

    sentinels = [process.sentinel for process in client.resources.engine_manager.processes]
    outputs = client.outputs_queue

    def watch() -> None:
        wait(sentinels)
        # First this: a call that is made from now on is refused, those before it are answered.
        client.resources.engine_dead = True
        for reply in [*client.utility_results.values()]:
            if not reply.done():
                reply.set_exception(EngineDeadError())
        outputs.put(EngineDeadError())

    Thread(target=watch, daemon=True, name="assay-engine-watch").start()
