"""`assay analyze` on what a user may have: a table, released records, shards."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from support.twin import write_twin

runner = CliRunner()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two models under two prompts; the first is far better."""
    rng = np.random.default_rng(1)
    rows = [
        (model, "exam", f"q{item}", prompt, int(rng.random() < chance))
        for item in range(120)
        for model, chance in (("able", 0.8), ("weak", 0.3))
        for prompt in ("plain", "reasoned")
    ]
    path = tmp_path / "answers.csv"
    columns = ["model", "benchmark", "item", "configuration", "correct"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return path


def run(*arguments: object) -> tuple[int, str, str]:
    done = runner.invoke(app, ["analyze", *map(str, arguments)])
    return done.exit_code, done.stdout, done.stderr


def test_a_long_table(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    status, said, error = run(table, "--out", out, "--reference", "plain", "--options", 4)
    assert status == 0, error
    assert "able is better than weak at the reference configuration" in said
    numbers = json.loads((out / "leaderboard.json").read_text("utf-8"))
    assert numbers["study"] == "mine"
    assert {f["name"] for f in numbers["findings"]["all"]} >= {"rank_uncertainty", "compression"}
    assert (out / "tables" / "pairs.csv").is_file()
    assert "nan" not in said.lower()


def test_shards(tmp_path: Path) -> None:
    write_twin(tmp_path / "r", models=2, items_per_benchmark=8, benchmarks=("arc",), seed=1)
    status, said, error = run(tmp_path / "r", "--out", tmp_path / "out")
    assert status == 0, error
    assert "twin-01" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no reference was named; the configurations are plain, reasoned"),
        (["--reference", "odd"], "odd"),
        (["--reference", "plain", "--alpha", "0.9"], "alpha lies between"),
        (["--reference", "plain", "--margin", "3"], "two points as 0.02"),
    ],
)
def test_wrong_options(table: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    status, _, error = run(table, "--out", tmp_path / "out", "--options", 4, *arguments)
    assert status == 1
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_nothing_to_analyse(tmp_path: Path) -> None:
    status, _, error = run(tmp_path, "--out", tmp_path / "out")
    assert status == 1
    assert "there is nothing to analyse here" in error
