"""Tests of the shipped profile on a real SLURM: skipped where none answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cluster import Cluster, answers


@pytest.fixture(scope="session")
def slurm() -> None:
    """Skip without a SLURM that answers."""
    if not answers():
        pytest.skip("no SLURM answers here (sinfo)")


@pytest.fixture
def space(slurm: None, project: Path, assay_cache: Path, tmp_path: Path) -> Iterator[Cluster]:
    """Give a workspace of one benchmark; its jobs end with the test."""
    space = Cluster.build(project, tmp_path / "w", assay_cache)
    yield space
    space.end_all()
