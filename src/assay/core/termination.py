"""SIGTERM as a wish to stop at the next safe point.

Schedulers send it some time before they kill (preemption, time limit, scancel).
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from assay.core.errors import AssayError


class Termination:
    """Inside the block SIGTERM ends nothing by itself; `check` ends the work where nothing is lost.

    In a thread other than the main one, which gets no signals, nothing is changed.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: Any = None

    def __enter__(self) -> Termination:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        # Again and again is the same wish: SLURM repeats it right before it kills.
        self.requested = True

    def check(self, done: str) -> None:
        """Raise if SIGTERM has come; `done` says what is safe.

        Raises
        ------
        AssayError
        """
        if self.requested:
            raise AssayError(
                f"stopped by SIGTERM (preemption, a time limit or scancel); {done}.",
                fix="run again: it goes on from there.",
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
