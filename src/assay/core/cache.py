"""Where downloads, converted weights and caches lie."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """Return ``$ASSAY_CACHE``, by default ``~/.cache/assay``; never a path that enters a result."""
    named = os.environ.get("ASSAY_CACHE")
    return Path(named).expanduser() if named else Path.home() / ".cache" / "assay"
