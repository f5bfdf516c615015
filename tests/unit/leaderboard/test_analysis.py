from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from assay.core.errors import AnalysisError
from assay.leaderboard import (
    TABLES,
    Leaderboard,
    analyze,
    analyze_correctness,
    leaderboard_schema,
    write,
)
from assay.leaderboard.analysis import twin_draws
from support.twin import model_names, write_twin

from .builders import ShardWriter
from .simulated import grid

R, W = "right", "wrong"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("twin")
    return write_twin(root, models=4, items_per_benchmark=24, benchmarks=("arc", "mmlu"), seed=3)


@pytest.fixture(scope="module")
def leaderboard(folders: list[Path]) -> Leaderboard:
    return analyze(folders, study="twin", seed=1)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


#: Filled by grids that ask more than the twin's.
BESIDE = {"replicate", "choices_only", "label_prior"}


def test_writes_every_table_and_the_numbers(leaderboard: Leaderboard, tmp_path: Path) -> None:
    paths = write(leaderboard, tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in paths}
    assert names == {"leaderboard.json"} | {
        f"tables/{name}.{kind}" for name in TABLES for kind in ("csv", "parquet")
    }
    for name in TABLES:
        text = pd.read_csv(tmp_path / f"tables/{name}.csv")
        exact = pd.read_parquet(tmp_path / f"tables/{name}.parquet")
        assert len(text) == len(exact)
        assert (len(exact) > 0) == (name not in BESIDE)
        assert list(text.columns) == list(exact.columns)


def test_numbers_fit_their_schema(leaderboard: Leaderboard, tmp_path: Path) -> None:
    write(leaderboard, tmp_path)
    numbers = json.loads((tmp_path / "leaderboard.json").read_text("utf-8"))
    jsonschema.validate(numbers, leaderboard_schema())
    assert numbers["models"] == list(model_names(4))
    assert numbers["synthetic"] is True
    assert numbers["n_items"] == 48
    assert numbers["reference"] == "gen|letter_plain|p0"
    assert set(numbers["null_bands"]) == {"all", "arc", "mmlu"}
    assert numbers["missing"] == numbers["absent"] == []


def test_twice_the_same_bytes(
    leaderboard: Leaderboard, folders: list[Path], tmp_path: Path
) -> None:
    """Whatever the order of the shards and wherever they lie."""
    moved = tmp_path / "moved"
    again = []
    for folder in reversed(folders):
        target = moved / folder.parent.parent.name / folder.parent.name
        shutil.copytree(folder, target)
        again.append(target)
    write(leaderboard, tmp_path / "one")
    write(analyze(again, study="twin", seed=1), tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_names_of_models_do_not_change_numbers(shard: ShardWriter) -> None:
    # Of equal models the one listed first is called better, so no two are equal here.
    rng = np.random.default_rng(1)
    outcomes = [
        {i: [R if hit else W for hit in rng.random(5) < share] for i in range(30)}
        for share in (0.4, 0.6, 0.8)
    ]
    found = []
    for names in (("a", "b", "c"), ("z", "y", "x")):
        folders = [shard(n, "b", o) for n, o in zip(names, outcomes, strict=True)]
        tables = analyze(folders, study="s", seed=0, quick=True).tables
        band = tables["band"].set_index("model").loc[list(names)]
        pairs = tables["pairs"].sort_values(["benchmark", "gap"])
        columns = ["gap", "low", "p_adjusted", "gap_fragile", "fragile_item_share"]
        found.append((band[["robust", "min", "max"]].to_numpy(), pairs[columns].to_numpy()))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.allclose(found[0][1], found[1][1], atol=1e-15)


def test_tables_agree_with_each_other(leaderboard: Leaderboard) -> None:
    tables = leaderboard.tables
    accuracy = tables["accuracy"].set_index(["model", "benchmark", "configuration"])
    statuses = tables["statuses"].groupby(["model", "benchmark", "configuration"])["n"].sum()
    for key, row in accuracy.iterrows():
        assert row["low"] <= row["accuracy"] <= row["high"]
        # Locked items are not applicable in other orders and outside the denominator.
        assert row["n"] <= statuses[key]
    reference = leaderboard.summary.reference
    for pair in tables["pairs"].to_dict("records"):
        ends = [accuracy.loc[(pair[k], pair["benchmark"], reference)] for k in ("better", "worse")]
        assert pair["gap"] == pytest.approx(ends[0]["accuracy"] - ends[1]["accuracy"])
        assert pair["n"] == ends[0]["n"]
    items = tables["items"]
    fragile = items[items["item_class"] == "fragile"].groupby(["benchmark", "item_id"]).size()
    for row in tables["item_fragility"].to_dict("records"):
        wanted = fragile.get((row["benchmark"], row["item_id"]), 0) / 4
        assert row["fragility"] == pytest.approx(wanted)
    audit = tables["extraction_audit"].set_index(["model", "benchmark", "extractor"])
    for (model, benchmark), rows in tables["accuracy"].groupby(["model", "benchmark"]):
        generated = rows[rows["scoring"] == "gen"]
        standard = audit.loc[(model, benchmark, "standard")]
        assert standard["n"] == generated["n"].sum()
        assert standard["accuracy"] == pytest.approx(
            generated["correct"].sum() / generated["n"].sum()
        )


def test_a_likelihood_configuration_has_no_order(leaderboard: Leaderboard) -> None:
    table = leaderboard.tables["accuracy"]
    assert table[table["scoring"] == "ll"]["order"].isna().all()
    assert table[table["scoring"] == "gen"]["order"].notna().all()


#: Tables that hold what was drawn or simulated.
SIMULATED = {
    "rank_probability",
    "permutations",
    "label_bias",
    "variance",
    "compression",
    "partial_grid",
}


def test_another_seed_moves_only_what_is_simulated(folders: list[Path]) -> None:
    one, two = (analyze(folders[:4], study="t", seed=s, allow_missing=True) for s in (1, 2))
    assert one.summary.null_bands != two.summary.null_bands
    for name in set(TABLES) - SIMULATED:
        columns = [c for c in one.tables[name] if c != "twin_fragile_share"]
        pd.testing.assert_frame_equal(one.tables[name][columns], two.tables[name][columns])


class TestMissing:
    def test_an_absent_shard_is_named_everywhere(self, folders: list[Path]) -> None:
        kept = [f for f in folders if (f.parent.parent.name, f.parent.name) != ("twin-02", "mmlu")]
        assert len(kept) == 7
        with pytest.raises(AnalysisError, match="no shard for twin-02 on mmlu"):
            analyze(kept, study="t", seed=0)
        found = analyze(kept, study="t", seed=0, absent=["twin-02 × mmlu"])
        assert found.summary.absent == ["twin-02 × mmlu"]
        assert [(m.model, m.benchmark, m.status) for m in found.summary.missing] == [
            ("twin-02", "mmlu", "absent")
        ]
        text = {sentence.id: sentence.text for sentence in found.summary.sentences}["missing"]
        assert "1 shard left out (twin-02 × mmlu)" in text
        ranks = found.tables["ranks"]
        assert set(ranks[ranks["benchmark"] == "mmlu"]["model"]) == {
            "twin-01",
            "twin-03",
            "twin-04",
        }
        # The pooled ranks compare all four models, on the benchmark that all of them have.
        assert found.summary.scopes["all"].compared_items == (
            found.summary.scopes["arc"].compared_items
        )

    def test_failed_observations_are_counted(self, shard: ShardWriter) -> None:
        folders = [
            shard("m", "b", {i: [R, "oom" if i < 2 else R, W, R, R] for i in range(8)}),
            shard("n", "b", {i: [W, R, R, R, R] for i in range(8)}),
        ]
        with pytest.raises(AnalysisError, match="2 observations have no answer"):
            analyze(folders, study="s", seed=0)
        found = analyze(folders, study="s", seed=0, allow_missing=True)
        assert found.summary.missing[0].n == 2
        band = found.tables["band"].set_index(["model", "benchmark"])
        assert band.loc[("m", "b")]["n"] == 6
        assert band.loc[("n", "b")]["n"] == 8
        assert found.summary.scopes["b"].compared_items == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [({"alpha": 0.6}, "one half"), ({"equivalence_margin": 2}, "two points as 0.02")],
)
def test_bad_options_are_refused(folders: list[Path], options: dict, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        analyze(folders, study="s", seed=0, quick=True, **options)


@pytest.mark.parametrize(
    ("outcomes", "draws"), [(0, 200), (50_000_000, 200), (100_000_000, 100), (10**9, 40)]
)
def test_large_leaderboards_take_fewer_draws(outcomes: int, draws: int) -> None:
    assert twin_draws(outcomes) == draws


def test_one_benchmark_is_the_whole() -> None:
    found = analyze_correctness(grid(3, 60, seed=2), study="one", seed=1)
    numbers = found.summary.model_dump(mode="json")
    pooled, alone = (
        {one["name"]: one | {"benchmark": ""} for one in numbers["findings"][scope]}
        for scope in ("all", "b")
    )
    assert set(pooled) - set(alone) == {"leave_one_benchmark_out", "partial_grid"}
    assert alone == {name: pooled[name] for name in alone}
    assert numbers["null_bands"]["all"] == numbers["null_bands"]["b"]
    pairs = found.tables["family_pairs"]
    assert pairs.groupby("benchmark").size().to_dict() == {"all": 15, "b": 15}
