"""The process of a vLLM engine: how its death is heard of, and how it is ended."""

from __future__ import annotations

import time
from collections.abc import Collection
from multiprocessing.connection import wait
from threading import Thread
from typing import Any

#: Seconds that the threads here may take to end after the engine's process has.
_PATIENCE = 10.0


def end_client(client: Any, serving: Collection[Thread]) -> None:
    """End an engine's process, then wait for the threads here that served it.

    A thread that is still in native code when the interpreter ends takes the process down with it
    (`terminate called without an active exception`), after all the work was done.
    """
    client.shutdown()
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
