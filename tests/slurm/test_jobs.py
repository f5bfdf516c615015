"""Jobs on a real SLURM: all of them, failing ones, cancelled ones, and two for one GPU."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.config import FIGURES
from support.api_server import Counting, Server, serving
from support.cluster import Cluster, until

pytestmark = [pytest.mark.slurm, pytest.mark.workflow]


@pytest.mark.model
def test_all_jobs_run_and_the_report_comes_out(space: Cluster, tmp_path: Path) -> None:
    accounted = subprocess.run(["sacct"], capture_output=True, check=False).returncode == 0
    efficiency = ["--slurm-efficiency-report", "--slurm-efficiency-report-path", str(tmp_path)]
    ran = space.snakemake(*(efficiency if accounted else []))
    assert ran.status == 0, ran.output
    jobs = space.jobs(ran.output)
    assert {job.state for job in jobs} == {"COMPLETED"}
    rules = sorted(job.rule for job in jobs)
    figures = [rule for rule in rules if rule.startswith("plot_")]
    assert figures == sorted(f"plot_{name}" for name in FIGURES)
    assert sorted({*rules} - {*figures}) == ["analyze_leaderboard", "build_report", "collect"]
    assert len(rules) == len({*rules}), "a job ran twice"
    assert list((space.root / "results").glob("test-*/report/index.html"))
    assert "3 of 3 items" in space.log("collect")
    if accounted:
        (report,) = tmp_path.glob("efficiency_report_assay_*.csv")
        with report.open(encoding="utf-8") as stream:
            used = {row["RuleName"]: row for row in csv.DictReader(stream)}
        assert {name.partition("_wildcards_")[0] for name in used} == {f"rule_{r}" for r in rules}
        asked = {name: float(row["RequestedMem_MB"]) for name, row in used.items()}
        # Two nested Snakemakes alone take up to 260 MB.
        assert all(megabytes >= 300 for megabytes in asked.values()), asked


def test_a_failing_job_is_tried_again_and_then_fails_the_run_with_its_log(space: Cluster) -> None:
    with serving(Server(Counting(), fault=lambda number, tries: "500")) as server:
        space.serve(server.url, attempts=1)
        ran = space.snakemake()
    assert ran.status != 0
    jobs = space.jobs(ran.output)
    assert [(job.rule, job.state) for job in jobs] == [("collect", "FAILED")] * 2
    assert ran.output.count("Trying to restart job") == 1
    # The last words of the rule's log, not only where it lies.
    assert re.search(r"^ *error: .*500", ran.output, flags=re.MULTILINE), ran.output


def test_scancel_is_noticed(space: Cluster) -> None:
    with serving(Server(Counting(), delay=3)) as server:
        space.serve(server.url, concurrency=1)
        process = space.begin("--retries", "0")
        job = until(space.running)
        until(lambda: server.number)
        subprocess.run(["scancel", job.id], check=True)
        ran = space.end(process)
    assert ran.status != 0
    assert f"SLURM-job '{job.id}' failed, SLURM status is: 'CANCELLED'" in ran.output
    assert [job.state for job in space.jobs(ran.output)] == ["CANCELLED"]


def fake_driver(folder: Path, count: int) -> str:
    """Write an `nvidia-smi` that shows so many GPUs; return the PATH that finds it."""
    folder.mkdir()
    program = folder / "nvidia-smi"
    lines = "\\n".join(f"{k}, GPU-{k:08d}-aaaa-bbbb-cccc-dddddddddddd" for k in range(count))
    program.write_text(f"#!/bin/sh\nprintf '{lines}\\n'\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def gpu_node() -> dict[str, str]:
    """Return a node with more than one GPU; skip without one."""
    lines = subprocess.run(
        ["sinfo", "--noheader", "--Node", "--format=%N|%G|%P"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for line in lines:
        node, gres, partition = line.split("|")
        match = re.search(r"gpu:(?:([^:(,]+):)?(\d+)", gres)
        if match and int(match[2]) > 1:
            return {"node": node, "count": match[2], "partition": partition.rstrip("*")}
    pytest.skip("no node with two GPUs")


def two_gpu_models(space: Cluster, project: Path) -> None:
    roster = yaml.safe_load((project / "src/assay/config/roster/embedded.yaml").read_text())
    names = ["smollm2-135m", "smollm2-135m-bf16"]
    # Another key, since an entry that is laid over another unites with it.
    own = {f"gpu-{name}": roster[name] | {"gpus": 1} for name in names}
    space.config["define"]["models"] = own
    space.config["models"] = list(own)


def held(space: Cluster) -> list[str]:
    """Return the devices that the collectors say SLURM gave them."""
    return re.findall(r"using GPU (\S+), as the scheduler assigned", space.log("collect"))


@pytest.mark.model
@pytest.mark.parametrize("free", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_two_jobs_for_one_gpu_follow_each_other_and_for_two_see_different_ones(
    space: Cluster,
    project: Path,
    gpu_node: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    free: int,
) -> None:
    node, count = gpu_node["node"], int(gpu_node["count"])
    monkeypatch.setenv("PATH", fake_driver(tmp_path / "driver", count))
    two_gpu_models(space, project)
    blocker = ["sbatch", "--parsable", f"--nodelist={node}", f"--gpus={count - free}"]
    blocker += ["--mem=50", "--output=/dev/null", f"--partition={gpu_node['partition']}"]
    number = ""
    if count > free:
        command = [*blocker, "--wrap", "sleep 300"]
        number = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    try:
        extra = f"collect:slurm_extra='--nodelist={node}'"
        partition = f"collect:slurm_partition='{gpu_node['partition']}'"
        ran = space.snakemake("--until", "collect", "--set-resources", extra, partition)
    finally:
        if number:
            subprocess.run(["scancel", number], check=True)
    assert ran.status == 0, ran.output
    first, second = sorted(space.jobs(ran.output), key=lambda job: job.start)
    devices = held(space)
    assert len(devices) == 2
    if free == 1:
        assert second.start >= first.end, "two jobs had the only GPU at the same time"
        assert len({*devices}) == 1
    else:
        assert second.start < first.end, "they did not run side by side"
        assert len({*devices}) == 2


def test_jobs_inside_one_allocation_lease_its_gpus_among_themselves(
    slurm: None, gpu_node: dict[str, Any], project: Path, tmp_path: Path
) -> None:
    events = tmp_path / "events"
    holder = f"{sys.executable} {project / 'tests/unit/lease/holder.py'} 1 1 {events}"
    environment = os.environ | {
        "PATH": fake_driver(tmp_path / "driver", int(gpu_node["count"])),
        "ASSAY_LEASES": str(tmp_path / "leases"),
        "PYTHONPATH": str(project / "src"),
    }
    options = ["--wait", "--gpus=2", "--nodes=1", f"--partition={gpu_node['partition']}"]
    options += ["--mem=400", f"--output={tmp_path / 'log'}", "--time=2"]
    wrap = f"{holder} & {holder} & {holder} & wait"
    began = time.monotonic()
    subprocess.run(["sbatch", *options, "--wrap", wrap], env=environment, check=True, timeout=100)
    lines = [line.split() for line in events.read_text().splitlines()]
    took = [(int(when), name) for event, _, when, name in lines if event == "took"]
    gave = sorted(int(when) for event, _, when, _ in lines if event == "gave")
    assert len(took) == 3, (tmp_path / "log").read_text()
    assert len({name for _, name in took}) == 2, "the allocation has two"
    assert sorted(took)[1][0] < gave[0], "two ran side by side"
    assert sorted(took)[2][0] > gave[0], "the third waited"
    assert time.monotonic() - began > 2
