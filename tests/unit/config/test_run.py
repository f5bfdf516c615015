"""A run file and data, collected in this process by a real model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import assay
from assay.config import load_study, resolve
from assay.core.capability import PROVIDERS, Capability, CapabilityError
from assay.core.errors import ConfigError, ModelError
from support.workspace import ITEMS, TINY_GRID

ROWS = [{key: row[key] for key in ("question", "options", "answer")} for row in ITEMS]


@pytest.fixture
def registries(tmp_path: Path) -> Path:
    folder = tmp_path / "config"
    (folder / "grids").mkdir(parents=True)
    (folder / "grids" / "tiny.yaml").write_text(yaml.safe_dump(TINY_GRID, sort_keys=False))
    return folder


CONFIG: dict[str, Any] = {
    "models": ["smollm2-135m"],
    "grid": "tiny",
    "runtime": {"device": "cpu", "threads": 1, "token_budget": 256},
    "decode": {"max_new_tokens": 4},
}


@pytest.mark.model
def test_rows_are_asked_under_the_grid_and_never_twice(registries: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = assay.run(CONFIG, ROWS, out=out, registries=registries)
    table = result.table()
    assert len(table) == 3 * 5
    assert set(table.model) == {"smollm2-135m"}
    assert set(table.benchmark) == {"data"}
    assert table.configuration.nunique() == 5
    assert table.correct.notna().all()
    (shard,) = result.shards
    assert shard.is_relative_to(out / "records" / "smollm2-135m" / "data")
    first = (shard / "records.jsonl").read_bytes()
    again = assay.run(CONFIG, ROWS, out=out, registries=registries)
    manifest = json.loads((shard / "manifest.json").read_text())
    assert manifest["run"]["observations_asked"] == 0
    assert manifest["run"]["observations_reused"] == 15
    assert again.shards == result.shards
    assert (shard / "records.jsonl").read_bytes() == first


@pytest.mark.model
def test_a_file_is_asked_as_the_workflow_would(registries: Path, tmp_path: Path) -> None:
    """The same items give the same run name as the run file's own benchmark entry."""
    file = tmp_path / "exam.jsonl"
    file.write_text(json.dumps(ROWS[0]) + "\n")
    entry = {
        "source": {"kind": "path", "path": str(file)},
        "adapter": "generic",
        "licence": "unknown",
    }
    written = CONFIG | {
        "study": "mine",
        "benchmarks": [{"key": "exam"}],
        "define": {"benchmarks": {"exam": entry}},
    }
    declared = resolve(written, where="run", registries=registries).shards
    result = assay.run(CONFIG, file, out=tmp_path, registries=registries)
    results = Path("results")
    assert list(result.shards) == [
        tmp_path / plan.folder.relative_to(results) for plan in declared.values()
    ]


@pytest.mark.model
def test_a_model_is_loaded_once_and_its_counts_are_of_one_shard(
    registries: Path, tmp_path: Path
) -> None:
    entries = {}
    for name, row in zip("ab", ROWS, strict=False):
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps(row) + "\n")
        source = {"kind": "path", "path": str(file)}
        entries[name] = {"source": source, "adapter": "generic", "licence": "unknown"}
    config = CONFIG | {
        "benchmarks": [{"key": "a"}, {"key": "b"}],
        "define": {"benchmarks": entries},
    }
    result = assay.run(config, out=tmp_path / "out", registries=registries)
    found = [json.loads((shard / "manifest.json").read_text()) for shard in result.shards]
    first, second = (manifest["run"]["backend"] for manifest in found)
    assert first["load_s"] > 0 == second["load_s"]
    for manifest in found:
        tokens = manifest["provenance"]["tokens"]
        assert manifest["run"]["backend"]["prompt_tokens"] == tokens["naive"]


def _absent(folder: Path) -> dict[str, Any]:
    source = {"kind": "path", "path": str(folder / "gone")}
    entry = {"family": "none", "licence": "none", "source": source}
    return CONFIG | {"models": ["absent"], "define": {"models": {"absent": entry}}}


def test_what_a_backend_lacks_is_refused_before_the_missing_checkpoint(
    registries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROVIDERS, Capability.LOGPROBS, ("another",))
    with pytest.raises(CapabilityError, match="absent: the grid needs logprobs"):
        assay.run(_absent(tmp_path), ROWS, out=tmp_path / "out", registries=registries)


def test_the_default_study_is_refused_when_it_is_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert load_study(project / "config/config.yaml").shards
    monkeypatch.setitem(PROVIDERS, Capability.GENERATE, ("another",))
    with pytest.raises(CapabilityError, match="the grid needs generate"):
        load_study(project / "config/config.yaml")


def test_a_missing_checkpoint_is_named(registries: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such model folder"):
        assay.run(_absent(tmp_path), ROWS, out=tmp_path / "out", registries=registries)


def test_a_run_file_is_read_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump(CONFIG))
    assert assay.load_config(file) == CONFIG
    over = tmp_path / "over.yaml"
    over.write_text("runtime: {threads: 2}\n")
    assert assay.load_config(file, over)["runtime"] == CONFIG["runtime"] | {"threads": 2}
    over.write_text("runtime: {thread: 2}\n")
    with pytest.raises(ConfigError, match=r"unknown key 'runtime.thread' \(did you mean"):
        assay.load_config(file, over)


def test_nothing_to_ask_is_refused(registries: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to ask"):
        assay.run(CONFIG, out=tmp_path, registries=registries)
