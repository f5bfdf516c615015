"""Resume follows content and parameters: what runs again after each kind of change."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
import zipfile
from pathlib import Path

import pytest
import yaml
from filelock import FileLock

from assay.config import names
from support.workspace import ITEMS, Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.model]

FIGURES = {f"plot_{figure}" for figure in names.FIGURES}
AFTER_ANALYSIS = {"leaderboard", "report", *FIGURES}


@pytest.fixture(scope="module")
def finished(
    project: Path, assay_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Workspace:
    """A workspace in which everything has run once; tests work on clones of it."""
    # Test processes share it: the first to come makes it, the others wait.
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "finished"
    with FileLock(f"{root}.lock"):
        if root.is_dir():
            return Workspace(root, assay_cache)
        space = Workspace.create(project, root, assay_cache)
        ran = space.snakemake()
        if ran.status:
            shutil.rmtree(root)
        assert ran.status == 0, ran.output
        return space


@pytest.fixture
def space(finished: Workspace, tmp_path: Path) -> Workspace:
    return finished.clone(tmp_path / "moved")


def kinds(made: set[str]) -> set[str]:
    return {":".join(name.split(":")[:3]) for name in made}


def test_a_moved_checkout_and_a_touch_of_everything_run_nothing(space: Workspace) -> None:
    for path in space.root.rglob("*"):
        if path.is_file() and ".snakemake" not in path.parts:
            path.touch()
    ran = space.snakemake()
    assert ran.status == 0, ran.output
    assert ran.made == set()


def test_editing_a_plot_redraws_that_figure_and_the_report(space: Workspace) -> None:
    path = space.root / "src/assay/plots/rank_volatility.py"
    path.write_text(path.read_text() + "\n# an edit\n")
    assert space.snakemake().made == {"plot_rank_volatility", "report"}


def test_editing_the_analysis_asks_no_model(space: Workspace) -> None:
    path = space.root / "src/assay/leaderboard/ranks.py"
    path.write_text(path.read_text() + "\n# an edit\n")
    assert space.snakemake().made == AFTER_ANALYSIS


def test_a_comment_in_the_collector_asks_nothing_again(space: Workspace) -> None:
    path = space.root / "src/assay/grid/collect.py"
    path.write_text(path.read_text() + "\n# an edit\n")
    before = space.data()
    ran = space.snakemake()
    assert sum(name.startswith("collect:") for name in ran.made) == 4
    manifest = json.loads(
        (space.shard("smollm2-135m", "mine") / "manifest.json").read_text("utf-8")
    )
    assert manifest["run"]["observations_asked"] == 0
    assert "load" not in manifest["run"]["seconds"], "a model was loaded for nothing"
    assert space.data() == before


def test_decoding_changes_every_shard_and_reverting_runs_nothing(space: Workspace) -> None:
    space.config["decode"] = {"max_new_tokens": 3}
    plan = space.snakemake("-n").output
    assert "collect                    4" in plan or "collect " in plan
    ran = space.snakemake()
    assert sum(name.startswith("collect:") for name in ran.made) == 4
    del space.config["decode"]
    assert space.snakemake().made == set()


def test_a_template_changes_its_shards_and_reverting_runs_nothing(space: Workspace) -> None:
    path = space.root / "config/grids/tiny.yaml"
    before = path.read_text()
    grid = yaml.safe_load(before)
    grid["generation"]["formats"]["digit_labels"]["option"] = "({label}) {option}"
    path.write_text(yaml.safe_dump(grid, sort_keys=False))
    planned = space.snakemake("-n").output
    assert planned.count("rule collect") or "collect" in planned
    path.write_text("# only a comment\n" + before)
    assert space.snakemake().made == set()


def test_another_pin_of_one_model_plans_only_its_shards(space: Workspace) -> None:
    path = space.root / "src/assay/config/roster/embedded.yaml"
    entry = yaml.safe_load(path.read_text())["smollm2-135m"]
    entry["source"]["distributions"][0]["sha256"] = "0" * 64
    space.config["define"]["models"] = {"smollm2-135m": entry}
    planned = space.snakemake("-n", "--quiet", "host").output
    asked = {line for line in planned.splitlines() if "Asking" in line}
    assert len(asked) == 2, planned
    assert all("Asking smollm2-135m the items" in line for line in asked)


def test_editing_one_item_asks_only_what_belongs_to_it(space: Workspace) -> None:
    items = json.loads(json.dumps(ITEMS))
    items[1]["question"] = "Which one of these things is a metal?"
    space.write_items(items)
    ran = space.snakemake()
    assert ran.status == 0, ran.output
    collected = {name for name in kinds(ran.made) if name.startswith("collect:")}
    assert collected == {"collect:smollm2-135m:mine", "collect:smollm2-135m-bf16:mine"}
    run = json.loads((space.shard("smollm2-135m", "mine") / "manifest.json").read_text())["run"]
    # Two of three items are known; whole planned batches may repeat some of theirs.
    assert run["observations_reused"] == 10
    # Back again: the job is entered, nothing is asked.
    space.write_items(ITEMS)
    space.snakemake()
    run = json.loads((space.shard("smollm2-135m", "mine") / "manifest.json").read_text())["run"]
    assert run["observations_asked"] == 0


def test_losing_snakemakes_memory_runs_nothing(space: Workspace) -> None:
    shutil.rmtree(space.root / ".snakemake")
    assert space.snakemake().made == set()


def test_losing_the_memory_and_editing_the_analysis_is_noticed(space: Workspace) -> None:
    shutil.rmtree(space.root / ".snakemake")
    path = space.root / "src/assay/leaderboard/ranks.py"
    path.write_text(path.read_text() + "\n# an edit\n")
    told = space.assay("reconcile", "--configfile", "run.yaml")
    assert "leaderboard.json (made with other code" in told.stdout, told.stderr
    assert space.snakemake().made == AFTER_ANALYSIS


def test_a_lost_intermediate_is_made_again(space: Workspace) -> None:
    (space.shard("smollm2-135m", "mine") / "manifest.json").unlink()
    ran = space.snakemake()
    assert "collect:smollm2-135m:mine" in kinds(ran.made)


@pytest.mark.parametrize("damage", ["truncated", "edited"])
def test_a_damaged_shard_is_refused_by_name(space: Workspace, damage: str) -> None:
    path = space.shard("smollm2-135m", "mine") / "records.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[:-9] if damage == "truncated" else data.replace(b"metal", b"petal", 1))
    analysis = space.root / "src/assay/leaderboard/ranks.py"
    analysis.write_text(analysis.read_text() + "\n# an edit\n")
    ran = space.snakemake()
    assert ran.status != 0
    assert "smollm2-135m/mine/" in ran.output
    assert "records.jsonl: file" in ran.output


def test_swapped_models_keep_their_rows(space: Workspace) -> None:
    tables = next((space.root / "results").glob("test-*/tables"))
    before = (tables / "accuracy.csv").read_text()
    space.config["models"] = list(reversed(space.config["models"]))
    ran = space.snakemake()
    assert not any(name.startswith("collect:") for name in ran.made)
    assert sorted((tables / "accuracy.csv").read_text().splitlines()) == sorted(before.splitlines())


def test_the_same_run_from_scratch_gives_the_same_bytes(
    finished: Workspace, project: Path, tmp_path: Path
) -> None:
    again = Workspace.create(project, tmp_path / "again", finished.cache)
    assert again.snakemake().status == 0
    assert again.data() == finished.data()


@pytest.mark.parametrize("lines", [pytest.param(1, marks=pytest.mark.slow), 9])
def test_kill_9_in_mid_collection_resumes_where_it_was(
    finished: Workspace, project: Path, tmp_path: Path, lines: int
) -> None:
    space = Workspace.create(project, tmp_path / "killed", finished.cache)
    process = space.start("--quiet", "all")
    journals = space.root / "results/records"
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        written = [j.read_bytes().count(b"\n") for j in journals.glob("*/*/*/journal.jsonl")]
        if sum(written) >= lines:
            break
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = sum(j.read_bytes().count(b"\n") for j in journals.glob("*/*/*/journal.jsonl"))
    assert kept >= lines
    assert space.snakemake("--unlock").status == 0
    ran = space.snakemake()
    assert ran.status == 0, ran.output
    assert space.data() == finished.data()
    runs = [json.loads(p.read_text())["run"] for p in journals.glob("*/*/*/manifest.json")]
    assert sum(run["observations_reused"] for run in runs) >= lines


def test_snakemakes_own_report_is_made(space: Workspace) -> None:
    ran = space.snakemake("--report", "report.zip")
    assert ran.status == 0, ran.output
    names = zipfile.ZipFile(space.root / "report.zip").namelist()
    assert "report/report.html" in names
    for figure in FIGURES:
        assert any(name.endswith(f"{figure.removeprefix('plot_')}.pdf") for name in names), names
