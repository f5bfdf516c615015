"""A model that stays loaded never outlives its allocation, on a real SLURM."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.core.host import started
from assay.records.shard import read_shard
from support.cluster import Cluster, until
from support.workspace import ITEMS

# Minutes beside the other jobs: two weights are loaded, some of them twice.
pytestmark = [pytest.mark.slurm, pytest.mark.workflow, pytest.mark.model, pytest.mark.slow]


@pytest.fixture
def keepers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of keepers that jobs use."""
    folder = Path(tempfile.mkdtemp(prefix="keep", dir="/tmp"))
    monkeypatch.setenv("ASSAY_KEEPERS", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def two(space: Cluster) -> Cluster:
    """Return a workspace of two benchmarks of an item each, and a model that would stay an hour."""
    space.config["benchmarks"] = [{"key": "mine"}, {"key": "arc_challenge", "items": 1}]
    space.config["runtime"] |= {"threads": 2, "reuse_s": 3600}
    space.write_items(ITEMS[:1])
    return space


def jobs_of_models(space: Cluster) -> list[int]:
    """Return how many jobs the model of each shard had had."""
    shards = [read_shard(space.shard("smollm2-135m", name)) for name in ("mine", "arc_challenge")]
    return sorted(shard.manifest.run["backend"]["jobs_of_this_model"] for shard in shards)


def none_is_left(keepers: Path) -> bool:
    """Return whether no process of this folder's keepers lives, whatever its files say."""
    command = ["pgrep", "-f", f"assay.grid.keeper {keepers}"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return all(started(int(pid)) is None for pid in found.stdout.split())


def test_one_allocation_one_load_and_nothing_after_its_end(two: Cluster, keepers: Path) -> None:
    two.command()
    snakemake = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "run.yaml"]
    wrapped = shlex.join([*snakemake, "--until", "collect"])
    output = two.root / "allocation.log"
    done = subprocess.run(
        ["sbatch", "--wait", "--cpus-per-task=2", "--mem=6000", f"--output={output}"]
        + [f"--wrap={wrapped}"],
        cwd=two.root,
        env=two.environment | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr + output.read_text("utf-8")
    assert jobs_of_models(two) == [1, 2]
    until(lambda: none_is_left(keepers), 10)


def test_jobs_of_the_executor_have_a_model_each_and_leave_none(two: Cluster, keepers: Path) -> None:
    ran = two.snakemake("--until", "collect")
    assert ran.status == 0, ran.output
    assert jobs_of_models(two) == [1, 1]
    until(lambda: none_is_left(keepers), 10)
