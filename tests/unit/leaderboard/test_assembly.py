from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from assay.core.errors import AnalysisError
from assay.core.validation import validated
from assay.grid.configuration import Grid
from assay.leaderboard.assembly import configuration_of, refuse_missing, statuses_of
from assay.leaderboard.correctness import ABSENT, MISSING, NOT_APPLICABLE
from assay.records.schema import STATUSES

from .builders import build

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("gen|letter_plain|p0", ("gen", "letter_plain", "p0")),
        ("gen|bare", ("gen", "bare", None)),
        ("ll|cloze_plain", ("ll", "cloze_plain", None)),
        ("my prompt", ("gen", "my prompt", None)),
        ("ll|letter_scored|p1", ("ll", "letter_scored", "p1")),
        ("ll|a|b|c", ("gen", "ll|a|b|c", None)),
        ("gen|again", ("gen", "again", None)),
    ],
)
def test_keys(key: str, parts: tuple[str, str, str | None]) -> None:
    found = configuration_of(key)
    assert (found.scoring, found.format, found.order) == parts


@pytest.mark.parametrize(
    "path", sorted((ROOT / "config" / "grids").glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_key_of_our_grids_comes_back(path: Path) -> None:
    grid = validated(Grid, yaml.safe_load(path.read_text("utf-8")), where=path)
    for configuration in grid.configurations():
        assert configuration_of(configuration.key) == configuration


def test_statuses_follow_from_values() -> None:
    values = np.array([[[0, 1], [MISSING, NOT_APPLICABLE]], [[1, 0], [MISSING, MISSING]]], np.uint8)
    items = build(np.ones((1, 2, 5)), benchmarks=["a", "b"]).items
    found = statuses_of(values, items)
    names = [[STATUSES[k] for k in row] for row in found[0, :1]]
    assert names == [["ok", "ok"]]
    # Nothing of either model was seen on b.
    assert (found[:, 1] == ABSENT).all()
    one = statuses_of(values, tuple(replace(item, benchmark="a") for item in items))
    assert [STATUSES[k] for k in one[0, 1]] == ["backend_error", "not_applicable"]


def test_gaps_are_refused_by_name() -> None:
    values = np.ones((2, 3, 5))
    refuse_missing(build(values), "here")
    values[1, 2, 3] = MISSING
    with pytest.raises(AnalysisError, match=r"here: .* m01 on b under gen\|g\|p1"):
        refuse_missing(build(values), "here")
