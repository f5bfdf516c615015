"""Progress of a long job as lines that read well in a log file and on a terminal."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TextIO


@dataclass
class Progress:
    """Prints done, rate and time left, at most every `every` seconds.

    Parameters
    ----------
    total : int
        Work to do, in `unit`.
    label : str
        What is being worked on.
    """

    total: int
    label: str
    unit: str = "tokens"
    every: float = 5.0
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    done: int = 0
    _start: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)

    def advance(self, amount: int) -> None:
        """Count `amount` more as done and print a line if it is time to."""
        self.done += amount
        now = time.monotonic()
        if now - self._last >= self.every or self.done >= self.total:
            self._last = now
            print(self._line(now - self._start), file=self.stream, flush=True)

    def _line(self, seconds: float) -> str:
        rate = self.done / seconds if seconds > 0 else 0.0
        left = (self.total - self.done) / rate if rate > 0 else 0.0
        minutes, rest = divmod(round(left), 60)
        share = 100 * self.done / self.total if self.total else 100
        return (
            f"{self.label}: {share:3.0f} % ({self.done:,} of {self.total:,} {self.unit}), "
            f"{rate:,.0f} {self.unit}/s, {minutes}:{rest:02d} left"
        )
