from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from assay.leaderboard.correctness import Correctness

from .builders import ShardWriter, build, write_tiny_shard


@pytest.fixture
def tiny() -> Correctness:
    """Three models, four items, five configurations; worked through by hand in the tests."""
    return build(
        [
            [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 0]],
            [[1, 1, 0, 0, 1], [1, 1, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]],
            [[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0]],
        ]
    )


@pytest.fixture
def shard(tmp_path: Path) -> ShardWriter:
    """Write small shards below a temporary folder."""
    return partial(write_tiny_shard, tmp_path)
