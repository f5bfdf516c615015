"""A model that stays loaded between the collect jobs of a real run."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.grid.keepers import running
from assay.records.shard import read_shard
from support.workspace import ITEMS, Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.model, pytest.mark.slow]
MODELS = ["smollm2-135m", "smollm2-135m-bf16"]


@pytest.fixture
def keepers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="keep", dir="/tmp"))
    monkeypatch.setenv("ASSAY_KEEPERS", str(folder))
    yield folder
    shutil.rmtree(folder)


def test_one_load_a_model_the_same_records_and_nothing_left(
    project: Path, assay_cache: Path, tmp_path: Path, keepers: Path
) -> None:
    plain = Workspace.create(project, tmp_path / "plain", assay_cache)
    plain.config["runtime"]["threads"] = 2  # one job at a time
    plain.config["models"] = MODELS[:1]
    plain.config["benchmarks"][1]["items"] = 1
    plain.write_items(ITEMS[:1])
    assert plain.snakemake("--until", "collect").status == 0
    assert list(keepers.iterdir()) == []
    kept = Workspace.create(project, tmp_path / "kept", assay_cache)
    kept.config |= {"benchmarks": plain.config["benchmarks"]}
    kept.config["runtime"] |= {"threads": 2, "reuse_s": 600}
    kept.write_items(ITEMS[:1])
    ran = kept.snakemake("--until", "collect")
    assert ran.status == 0, ran.output
    found = kept.data()
    assert {name: found[name] for name in plain.data()} == plain.data()
    assert len(plain.data()) == 4
    for model in MODELS:
        shards = [read_shard(kept.shard(model, name)) for name in ("mine", "arc_challenge")]
        did = [shard.manifest.run["backend"] for shard in shards]
        assert sorted(one["jobs_of_this_model"] for one in did) == [1, 2]
        assert sorted(one["load_s"] > 0 for one in did) == [False, True]
    deadline = time.monotonic() + 20
    while any(map(running, keepers.glob("*.pid"))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert {path.suffix for path in keepers.iterdir()} == {".lock"}, "Snakemake has ended"
