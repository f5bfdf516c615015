"""Every figure at one, three and twelve models: legible, whole, and the same bytes each time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from assay.core.errors import AnalysisError
from assay.leaderboard import analyze
from assay.plots.accuracy_band import accuracy_band
from assay.plots.axis_survival import axis_survival
from assay.plots.compression import compression
from assay.plots.flip_matrix import flip_matrix
from assay.plots.fragile_gap import fragile_gap
from assay.plots.null_bands import null_bands
from assay.plots.partial_grid_error import partial_grid_error
from assay.plots.position_preference import position_preference
from assay.plots.power_curve import power_curve
from assay.plots.rank_distribution import rank_distribution
from assay.plots.rank_volatility import rank_volatility
from assay.plots.style import SMALL, WIDTH, save
from assay.plots.variance_components import variance_components
from support.figures import collisions, cut_off, shown_texts
from support.twin import write_twin

Tables = dict[str, pd.DataFrame]
NOTE = "synthetic data: no language model was asked"
FIGURES: dict[str, tuple[Callable[..., Figure], tuple[str, ...]]] = {
    "accuracy_band": (accuracy_band, ("band", "accuracy")),
    "axis_survival": (axis_survival, ("band",)),
    "fragile_gap": (fragile_gap, ("pairs",)),
    "rank_volatility": (rank_volatility, ("ranks", "accuracy")),
    "position_preference": (position_preference, ("slots", "band")),
    "rank_distribution": (rank_distribution, ("rank_probability",)),
    "flip_matrix": (flip_matrix, ("flips", "accuracy", "band")),
    "variance_components": (variance_components, ("variance",)),
    "null_bands": (null_bands, ("permutations",)),
    "partial_grid_error": (partial_grid_error, ("partial_grid",)),
    "compression": (compression, ("compression",)),
    "power_curve": (power_curve, ("power", "pairs")),
}
#: How often a model's name stands in a figure of the quick analysis.
TIMES_NAMED = {
    "accuracy_band": 1,
    "axis_survival": 1,
    "fragile_gap": 2,
    "rank_volatility": 1,
    "position_preference": 1,
}
#: A column of the first table that each figure needs.
NEEDED = {
    "fragile_gap": "better",
    "variance_components": "component",
    "null_bands": "axis",
    "partial_grid_error": "budget",
    "compression": "rule",
    "power_curve": "effect",
}
each_figure = pytest.mark.parametrize("name", FIGURES)


def draw(name: str, tables: Tables, **keywords: str) -> Figure:
    function, needed = FIGURES[name]
    return function(*(tables[table] for table in needed), **keywords)


@each_figure
def test_no_text_overlaps_or_is_cut_off(name: str, tables: Tables) -> None:
    figure = draw(name, tables, note=NOTE)
    assert figure.get_figwidth() * 72 == pytest.approx(WIDTH)
    shown = shown_texts(figure)
    assert collisions(shown) == []
    assert cut_off(figure, shown) == []
    texts = [text for text, _ in shown]
    assert min(text.get_fontsize() for text in texts) >= SMALL
    assert NOTE in [text.get_text() for text in texts]


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The real analysis of the synthetic twin: twelve models, four benchmarks."""
    shards = write_twin(tmp_path_factory.mktemp("twin"), items_per_benchmark=6)
    return analyze(shards, study="twin", seed=1, quick=True).tables


@each_figure
def test_the_real_analysis_of_the_twin_is_drawn_legibly(name: str, twin: Tables) -> None:
    figure = draw(name, twin, note=NOTE)
    shown = shown_texts(figure)
    assert collisions(shown) == []
    assert cut_off(figure, shown) == []
    texts = [text.get_text() for text, _ in shown]
    assert NOTE in texts
    named = sum("twin-07" in text for text in texts)
    assert named == TIMES_NAMED.get(name, 0)
    if not named:
        # What a quick analysis leaves out is said, not drawn.
        assert len(texts) == 2


def test_the_checks_see_an_overlap_and_a_cut() -> None:
    figure = Figure(figsize=(WIDTH / 72, 1))
    figure.text(0.1, 0.5, "one text")
    figure.text(0.12, 0.5, "another")
    figure.text(0.99, 0.1, "over the edge")
    shown = shown_texts(figure)
    assert collisions(shown) == [("one text", "another")]
    assert cut_off(figure, shown) == ["over the edge"]


def test_every_model_is_named_once_and_names_stay_distinct(tables: Tables) -> None:
    models = list(tables["band"]["model"])
    texts = [text.get_text() for text, _ in shown_texts(draw("accuracy_band", tables))]
    short = [name for name in models if len(name) < 30]
    assert [texts.count(name) for name in short] == [1] * len(short)
    cut = [text for text in texts if "…" in text]
    assert len(set(cut)) == len(cut)


def test_bands_show_the_numbers_of_the_table(tables: Tables) -> None:
    panel = draw("accuracy_band", tables).axes[0]
    bars = sorted((bar.get_x(), bar.get_width()) for bar in panel.patches)
    band = tables["band"]
    expected = sorted(zip(band["min"], band["max"] - band["min"], strict=True))
    np.testing.assert_allclose(bars, expected)


def test_gap_parts_add_up_to_what_is_drawn(tables: Tables) -> None:
    pairs = tables["pairs"]
    if pairs.empty:
        texts = [text.get_text() for text, _ in shown_texts(draw("fragile_gap", tables))]
        assert any("no pair" in text for text in texts)
        return
    panel = draw("fragile_gap", tables).axes[0]
    drawn = sum(bar.get_width() for bar in panel.patches)
    assert drawn == pytest.approx(pairs["gap"].sum())


def test_only_adjacent_pairs_are_drawn(tables: Tables) -> None:
    pairs = tables["pairs"]
    distant = pairs.assign(adjacent=False)
    doubled = pd.concat([pairs, distant], ignore_index=True)
    figure = draw("fragile_gap", {**tables, "pairs": doubled})
    assert len(figure.axes[0].patches if figure.axes else []) == 2 * len(pairs)


def test_slots_pool_benchmarks_by_count(tables: Tables) -> None:
    slots = tables["slots"]
    other = slots.assign(benchmark="mmlu", chosen=0, gold=0)
    both = {**tables, "slots": pd.concat([slots, other], ignore_index=True)}
    one, two = (
        sum(-bar.get_height() for panel in draw("position_preference", t, note=NOTE).axes
            for bar in panel.patches) for t in (tables, both)
    )  # fmt: skip
    assert two < one  # the same answers among twice as many items


def test_a_rank_that_is_missing_is_left_open(tables: Tables) -> None:
    full = len(draw("rank_volatility", tables).axes[0].patches)
    ranks = tables["ranks"].iloc[1:]
    assert len(draw("rank_volatility", {**tables, "ranks": ranks}).axes[0].patches) == full - 1


@pytest.mark.parametrize("tables", [3], indirect=True)
@pytest.mark.parametrize(
    ("name", "table", "columns"),
    [
        ("variance_components", "variance", ["low", "high", "share"]),
        ("variance_components", "variance", ["estimate", "low", "high", "share"]),
        ("flip_matrix", "flips", ["flips"]),
        ("power_curve", "power", ["effect"]),
        ("power_curve", "pairs", ["gap", "low", "high"]),
        ("null_bands", "permutations", ["value", "null", "low", "high"]),
        ("partial_grid_error", "partial_grid", ["naive_error"]),
        ("compression", "compression", ["share_right", "smallest_gap"]),
    ],
)
def test_what_so_few_items_do_not_tell_is_left_open(
    name: str, table: str, columns: list[str], tables: Tables
) -> None:
    unknown = tables[table].assign(**dict.fromkeys(columns, np.nan))
    if name == "partial_grid_error":
        unknown.loc[0, "naive_error"] = 0.1
    figure = draw(name, {**tables, table: unknown}, note=NOTE)
    shown = shown_texts(figure)
    assert collisions(shown) == []
    assert cut_off(figure, shown) == []


@each_figure
def test_a_missing_column_fails_by_name(name: str, tables: Tables) -> None:
    _, needed = FIGURES[name]
    column = NEEDED.get(name, "model")
    broken = {**tables, needed[0]: tables[needed[0]].drop(columns=column)}
    with pytest.raises(AnalysisError, match=f"no column {column}"):
        draw(name, broken)


def test_an_unknown_benchmark_fails_with_the_known_ones(tables: Tables) -> None:
    with pytest.raises(AnalysisError, match="choose one of: all"):
        draw("accuracy_band", tables, benchmark="arc")


@pytest.mark.parametrize("tables", [3], indirect=True)
@each_figure
def test_scripts_write_the_same_bytes_in_every_process(
    name: str, tmp_path: Path, project: Path, tables: Tables
) -> None:
    for key, table in tables.items():
        table.to_parquet(tmp_path / f"{key}.parquet")
    pdf, png = tmp_path / "script.pdf", tmp_path / "script.png"
    subprocess.run(
        [sys.executable, str(project / "scripts" / f"plot_{name}.py"), "--tables", str(tmp_path),
         "--pdf", str(pdf), "--png", str(png), "--note", NOTE],
        check=True, env={**os.environ, "PYTHONHASHSEED": "7"},
    )  # fmt: skip
    here = {"pdf": tmp_path / "here.pdf", "png": tmp_path / "here.png"}
    save(draw(name, tables, note=NOTE), **here)
    assert pdf.read_bytes() == here["pdf"].read_bytes()
    assert png.read_bytes() == here["png"].read_bytes()
    assert b"CreationDate" not in pdf.read_bytes()


def test_a_script_without_tables_says_which_file_it_lacks(tmp_path: Path, project: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(project / "scripts/plot_axis_survival.py"), "--tables", str(tmp_path),
         "--pdf", str(tmp_path / "x.pdf"), "--png", str(tmp_path / "x.png")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "band.parquet: the table is missing" in done.stderr
    assert not (tmp_path / "x.pdf").exists()
