"""Progress of a long job as lines that read well in a log file and on a terminal."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TextIO

from assay.core.model import Batch
from assay.models.plan import token_counts


class Progress:
    """Prints items, rate, time left and what sharing saves, at most every `every` seconds.

    Parameters
    ----------
    batches : sequence of Batch
        What will be asked.
    item_of : mapping
        Request id → id of its item. An item is done when all its requests are.
    label : str
        What is being worked on.
    """

    def __init__(
        self,
        batches: Sequence[Batch],
        item_of: Mapping[str, str],
        label: str,
        *,
        every: float = 5.0,
        stream: TextIO | None = None,
    ):
        self._item_of = item_of
        self._label = label
        self._every = every
        self._stream = stream or sys.stderr
        self._open = Counter(item_of[r.id] for batch in batches for r in batch.requests)
        self._items = len(self._open)
        self._total = sum(_naive(batch) for batch in batches)
        self._requests = sum(len(batch.requests) for batch in batches)
        self._naive = self._planned = self._asked = 0
        self._start = self._last = time.monotonic()

    def advance(self, batch: Batch) -> None:
        """Count `batch` as done and print a line if it is time to."""
        self._open -= Counter(self._item_of[request.id] for request in batch.requests)
        counts = token_counts(batch.requests, [batch])
        self._naive += counts.naive
        self._planned += counts.planned
        self._asked += len(batch.requests)
        now = time.monotonic()
        if now - self._last >= self._every or self._asked >= self._requests:
            self._last = now
            print(self._line(now - self._start), file=self._stream, flush=True)

    def _line(self, seconds: float) -> str:
        share, pace = self._pace(max(seconds, 1e-9))
        minutes, rest = divmod(round(seconds * (1 - share) / share), 60)
        return (
            f"{self._label}: {100 * share:3.0f} %, {self._items - len(self._open):,} of "
            f"{self._items:,} items, {pace}, {minutes}:{rest:02d} left"
        )

    def _pace(self, seconds: float) -> tuple[float, str]:
        """Return the share of the time that has passed, and the rate in words.

        Batches save about alike, so that the share of naive tokens is the share of the time.
        """
        if not self._total:  # a server tokenises
            return self._asked / self._requests, f"{self._asked / seconds:,.1f} requests/s"
        saved = 100 * (1 - self._planned / self._naive)
        rate = f"{self._planned / seconds:,.0f} tokens/s, {saved:.0f} % of prompt tokens saved"
        return self._naive / self._total, rate


def _naive(batch: Batch) -> int:
    return token_counts(batch.requests, []).naive
