"""The same shard collected on hf_local and on a real vLLM engine, by the workflow itself."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from assay.records.compare import compare_shards
from assay.records.shard import read_shard
from support.workspace import Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.slow, pytest.mark.model]


@pytest.fixture
def space(project: Path, assay_cache: Path, tmp_path: Path) -> Workspace:
    """Return a workspace with eight real items and one model; skip without a vLLM environment."""
    named = os.environ.get("ASSAY_VLLM_PYTHON")
    if not named or not Path(named).is_file():
        pytest.skip("no vLLM environment is at hand (set ASSAY_VLLM_PYTHON to its python)")
    space = Workspace.create(project, tmp_path / "clone", assay_cache)
    space.config |= {
        "models": ["smollm2-135m"],
        "benchmarks": [{"key": "arc_challenge", "items": 8}],
        "grid": "released",
        "decode": {"max_new_tokens": 8},
    }
    space.config["runtime"] = {"token_budget": 2048, "threads": 2, "device": "cpu"}
    return space


def test_a_kept_engine_gives_the_records_of_two_engines(
    space: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(os.environ["ASSAY_VLLM_PYTHON"]).parent
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    folder = Path(tempfile.mkdtemp(prefix="keep", dir="/tmp"))
    monkeypatch.setenv("ASSAY_KEEPERS", str(folder))
    space.config |= {
        "grid": "tiny",
        "benchmarks": [{"key": "mine"}, {"key": "arc_challenge", "items": 3}],
    }
    space.config["runtime"] |= {"backend": "vllm_offline", "token_budget": 400}
    kept = space.clone(tmp_path / "kept")
    kept.config["runtime"]["reuse_s"] = 300
    for one in (space, kept):
        ran = one.snakemake("--until", "collect")
        assert ran.status == 0, ran.output
        logs = [path.read_text("utf-8") for path in one.root.glob("results/logs/collect/*.log")]
        assert not any("terminate called" in log for log in logs)
    assert kept.data() == space.data()
    shards = [read_shard(kept.shard("smollm2-135m", name)) for name in ("mine", "arc_challenge")]
    did = [shard.manifest.run["backend"] for shard in shards]
    assert sorted(one["jobs_of_this_model"] for one in did) == [1, 2]
    assert sorted(one["load_s"] > 0 for one in did) == [False, True]
    for name, counts in zip(("mine", "arc_challenge"), did, strict=True):
        alone = read_shard(space.shard("smollm2-135m", name)).manifest.run["backend"]
        assert counts["forwarded_tokens"] == alone["forwarded_tokens"]
    deadline = time.monotonic() + 30
    while [*folder.glob("*.sock")] and time.monotonic() < deadline:
        time.sleep(0.2)
    assert {path.suffix for path in folder.iterdir()} == {".lock"}
    shutil.rmtree(folder)


def test_records_of_both_runtimes(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert space.snakemake("--until", "collect").status == 0
    ours = space.shard("smollm2-135m", "arc_challenge")
    space.config["runtime"] |= {"backend": "vllm_offline", "token_budget": 65536}
    place = Path(os.environ["ASSAY_VLLM_PYTHON"]).parent
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    ran = space.snakemake("--until", "collect")
    assert ran.status == 0, ran.output
    assert [name.split(":")[0] for name in ran.made] == ["collect"]
    (theirs,) = set(ours.parent.iterdir()) - {ours}
    first, second = read_shard(ours), read_shard(theirs)
    found = compare_shards(first, second, bound=2e-4)
    print(f"{found.observations} observations, largest difference {found.largest:.2e}")
    assert found.observations == 208
    assert found.equal, found.disagreements
    engine = second.manifest.provenance["origin"]["backend"]
    assert engine.startswith("vllm_offline vllm")
    assert engine.endswith("batch_invariant=False tensor_parallel=1")
    keys = [
        {o.key for record in shard.records() for o in record.observations.values()}
        for shard in (first, second)
    ]
    assert not keys[0] & keys[1], "an answer of one runtime is never taken for the other's"
    assert space.snakemake("--until", "collect").made == set()
