"""The line says what is done, how fast, what is saved and what is left."""

from __future__ import annotations

import io

import pytest

import assay.grid.progress as module
from assay.core.model import Batch, Request
from assay.grid.progress import Progress


def _batch(item: int, requests: int) -> Batch:
    """Return `requests` prompts of 100 tokens of which 90 are shared."""
    stem = tuple(range(90))
    asked = tuple(
        Request(f"{item}/{n}", str(item), (*stem, *[100 + n] * 10)) for n in range(requests)
    )
    return Batch("generate", (asked,))


def test_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 2.0, 10.0, 20.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    whole = _batch(3, 4)
    half = Batch("generate", (whole.groups[0][:2],))
    rest = Batch("generate", (whole.groups[0][2:],))
    batches = [_batch(0, 4), half, rest]
    item_of = {r.id: r.group for batch in batches for r in batch.requests}
    progress = Progress(batches, item_of, "m × b", stream=stream)
    progress.advance(batches[0])
    assert stream.getvalue() == "", "not before five seconds"
    progress.advance(half)
    assert stream.getvalue() == (
        "m × b:  75 %, 1 of 2 items, 24 tokens/s, 60 % of prompt tokens saved, 0:03 left\n"
    )
    progress.advance(rest)
    assert stream.getvalue().splitlines()[-1] == (
        "m × b: 100 %, 2 of 2 items, 18 tokens/s, 56 % of prompt tokens saved, 0:00 left"
    )


def test_a_batch_whose_tokens_only_a_server_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    asked = [Batch("generate", ((Request(str(n), "x", ()),),)) for n in range(4)]
    progress = Progress(asked, dict.fromkeys("0123", "x"), "m × b", stream=stream)
    progress.advance(asked[0])
    assert stream.getvalue() == "m × b:  25 %, 0 of 1 items, 0.1 requests/s, 0:30 left\n"
