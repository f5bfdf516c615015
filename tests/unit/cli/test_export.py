from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from assay.config import load_study
from support.twin import write_twin

runner = CliRunner()


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    write_twin(tmp_path / "records", models=1, items_per_benchmark=4, benchmarks=("arc",), seed=1)
    return tmp_path / "records"


@pytest.mark.parametrize(
    ("layout", "files"), [("released", 2), ("every_eval_ever", 2), ("lm_eval", 27)]
)
def test_every_layout(shards: Path, tmp_path: Path, layout: str, files: int) -> None:
    out = tmp_path / "out"
    done = runner.invoke(app, ["export", layout, str(shards), "--out", str(out)])
    assert done.exit_code == 0, done.stderr
    assert f"{files} files below" in done.stdout
    assert "bits by the standard extractor" in done.stdout
    assert len([path for path in out.rglob("*") if path.is_file()]) == files


def test_an_export_can_be_repeated_byte_for_byte(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    found = []
    for name in ("once", "twice"):
        out = tmp_path / name
        runner.invoke(app, ["export", "lm_eval", str(shards), "--out", str(out)])
        found.append({p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()})
    assert found[0] == found[1]
    assert any("2023-11-14T22-13-20" in path.name for path in found[0])


def test_nothing_is_overwritten(shards: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("precious")
    done = runner.invoke(app, ["export", "released", str(shards), "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "already holds something" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_a_study_is_exported_without_naming_its_shards(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shards lie where the study says; a run of other settings beside them is left alone."""
    (tmp_path / "config").symlink_to(project / "config")
    monkeypatch.chdir(tmp_path)
    study = ["--configfile", "config/smoke.yaml", "--out", "out"]
    (plan,) = load_study(Path("config/config.yaml"), Path("config/smoke.yaml")).shards.values()
    done = runner.invoke(app, ["export", "released", *study])
    assert f"{plan.folder}: there is no finished shard here" in done.stderr
    for number, run in enumerate((plan.folder, plan.folder.with_name("another"))):
        (made,) = write_twin(tmp_path / str(number), models=1, benchmarks=("arc",), seed=number)
        run.parent.mkdir(parents=True, exist_ok=True)
        made.rename(run)
    done = runner.invoke(app, ["export", "released", *study])
    assert done.exit_code == 0, done.stderr
    assert [path.name for path in Path("out/records").iterdir()] == ["arc__twin-01.jsonl"]
