"""Fixtures shared by all tests: where real data and real weights are found."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Test processes run side by side, one per core: threads of one would only wait for the other's.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest  # noqa: E402

PROJECT = Path(__file__).resolve().parent.parent
# Helpers for tests live in tests/support and are imported as `support.…`.
sys.path.insert(0, str(PROJECT / "tests"))


@pytest.fixture(scope="session")
def project() -> Path:
    """Return the root of the checkout."""
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared specifications and data; skip where there is none."""
    folder = Path(os.environ.get("ASSAY_SHARED", PROJECT.parent / "shared"))
    if not (folder / "DESIGN.md").is_file():
        pytest.skip("shared data are not at hand (set ASSAY_SHARED)")
    return folder


@pytest.fixture(scope="session")
def assay_cache() -> Path:
    """Return the cache for downloads and converted weights (`$ASSAY_CACHE`)."""
    return Path(os.environ.get("ASSAY_CACHE", Path.home() / ".cache" / "assay"))
