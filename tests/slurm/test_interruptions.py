"""What SLURM and users do to a run in the middle: nothing is lost and nothing is asked twice."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from support.api_server import Counting, Server, serving
from support.cluster import Cluster, until

pytestmark = [pytest.mark.slurm, pytest.mark.workflow]
#: Answers of three items under the five configurations of the tiny grid.
ANSWERS = 15


def test_a_killed_snakemake_is_resumed_beside_its_orphans(space: Cluster) -> None:
    with serving(Server(Counting(), delay=1.2)) as server:
        space.serve(server.url, concurrency=1)
        process = space.begin("--until", "collect")
        first = until(space.running)
        until(lambda: server.number >= 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found = json.loads(space.assay("doctor", "--json", "--configfile", "run.yaml").stdout)
        orphans = next(check for check in found if check["name"] == "orphans")
        assert orphans["state"] == "warn"
        assert first.id in orphans["detail"]
        assert f"scancel {first.id}" in orphans["advice"]
        assert space.snakemake("--unlock").status == 0
        ran = space.snakemake("--until", "collect")
        assert ran.status == 0, ran.output
    (second,) = space.jobs(ran.output)
    assert second.id != first.id
    states = {job.id: job.state for job in space.jobs()}
    assert states == {first.id: "COMPLETED", second.id: "COMPLETED"}
    assert f"waiting: job {first.id}, process" in space.log("collect")
    assert set(server.tries.values()) == {1}, "something was asked twice"
    run = space.manifest()["run"]
    assert (run["observations_asked"], run["observations_reused"]) == (0, ANSWERS)
    assert sum(one["observations_asked"] for one in run["earlier"]) == ANSWERS


def hurried(space: Cluster, job: str) -> bool:
    """Start a requeued job, which SLURM would let wait for two minutes, once it has ended."""
    (state,) = [one.state for one in space.jobs() if one.id == job]
    if state == "PENDING":
        command = ["scontrol", "update", f"jobid={job}", "StartTime=now"]
        subprocess.run(command, capture_output=True, check=False)  # not yet, says SLURM at first
    return state in ("RUNNING", "COMPLETED") and "stopped by SIGTERM" not in space.log("collect")


def test_a_preempted_job_keeps_its_batch_and_goes_on_when_requeued(space: Cluster) -> None:
    """`scontrol requeue` does what preemption by requeueing does: SIGTERM, grace, queue again."""
    with serving(Server(Counting(), delay=0.5)) as server:
        space.serve(server.url, concurrency=4)
        process = space.begin("--until", "collect")
        job = until(space.running)
        # After the proof of log-probabilities come the generations.
        until(lambda: any("A. " in str(body) for _, body in list(server.asked)))
        subprocess.run(["scontrol", "requeue", job.id], check=True)
        until(lambda: "stopped by SIGTERM" in space.log("collect"))
        kept = (space.shard("served", "mine") / "journal.jsonl").read_text().count("\n")
        until(lambda: hurried(space, job.id))
        ran = space.end(process)
        # Each start proves the log-probabilities anew; no question is asked again.
        again = [words for words, count in server.tries.items() if count > 1]
        assert not [words for words in again if "Question: " in words]
    assert ran.status == 0, ran.output
    assert [one.state for one in space.jobs(ran.output)] == ["COMPLETED"]
    run = space.manifest()["run"]
    assert kept == 12, "all generations are one batch"
    assert (run["observations_reused"], run["observations_asked"]) == (kept, ANSWERS - kept)


@pytest.mark.slow
def test_a_time_limit_is_noticed_and_the_retry_goes_on_from_the_journal(space: Cluster) -> None:
    # SLURM counts in minutes: some thirty requests one after the other need two jobs.
    space.config["runtime"]["minutes"] = 1
    with serving(Server(Counting(), delay=3)) as server:
        space.serve(server.url, concurrency=1)
        process = space.begin("--until", "collect")
        ran = space.end(process, limit=500)
        assert max(server.tries.values()) <= 2
    assert ran.status == 0, ran.output
    assert [job.state for job in space.jobs(ran.output)] == ["TIMEOUT", "COMPLETED"]
    assert "SLURM status is: 'TIMEOUT'" in ran.output


def test_two_hundred_jobs_are_planned_in_seconds(space: Cluster) -> None:
    entry = {"source": {"kind": "path", "path": "mine.jsonl"}, "adapter": "generic"}
    entry |= {"licence": "CC0-1.0", "columns": {"id": "id"}}
    space.config["define"]["benchmarks"] = {f"mine{n}": entry for n in range(20)}
    space.config["benchmarks"] = [{"key": f"mine{n}"} for n in range(20)]
    source = {"kind": "api", "base_url": "http://127.0.0.1:9/v1"}
    space.config["define"]["models"] = {
        f"served{n}": {"family": "w", "licence": "none", "source": source | {"model": f"w{n}"}}
        for n in range(10)
    }
    space.config["models"] = [f"served{n}" for n in range(10)]
    began = time.monotonic()
    ran = space.snakemake("--dry-run")
    assert ran.status == 0, ran.output
    assert time.monotonic() - began < 60
    assert "collect                      200" in ran.output or "200" in [
        line.split()[-1] for line in ran.output.splitlines() if line.startswith("collect ")
    ]
    assert not space.jobs()
