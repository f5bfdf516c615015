"""What a real Snakemake leaves behind when it is killed, and what a live one looks like."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.doctor.check import Check, Context
from assay.cli.doctor.runs import live_runs, runs
from assay.cli.main import app
from assay.records.holder import Holder
from assay.records.writer import WriterLease, lease_path

Make = Callable[..., Context]
SNAKEFILE = """
rule slow:
    output:
        "a/rather/long/name/of/an/output/{}.txt"
    shell:
        "echo half > {{output}} && sleep 60"
""".format("x" * 180)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all"],
        cwd=tmp_path,
        start_new_session=True,
        env={name: value for name, value in os.environ.items() if name != "SLURM_JOB_ID"},
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("a/rather/long/name/of/an/output/*.txt")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def found(context: Context) -> dict[str, Check]:
    return {check.name: check for check in runs(context)}


@pytest.mark.workflow
def test_a_live_run_and_what_it_leaves_when_killed(
    context: Make, tmp_path: Path, running: subprocess.Popen[bytes]
) -> None:
    assert running.pid in live_runs(tmp_path)
    assert str(running.pid) in found(context())["snakemake lock"].detail
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert live_runs(tmp_path) == {}
    left = found(context())
    assert left["snakemake lock"].state == "warn"
    assert "snakemake --unlock" in left["snakemake lock"].advice
    assert left["incomplete files"].state == "warn"
    assert f"a/rather/long/name/of/an/output/{'x' * 180}.txt" in left["incomplete files"].detail


def test_an_untouched_folder(context: Make) -> None:
    states = {check.state for check in runs(context(environment={"PATH": ""}))}
    assert states == {"ok", "skipped"}


def test_writers_alive_and_dead(context: Make, tmp_path: Path) -> None:
    shard = tmp_path / "results" / "records" / "m" / "b" / "0"
    with WriterLease(shard):
        assert f"m/b/0 by process {os.getpid()}" in found(context())["writers"].detail
    assert found(context())["writers"].detail == "0 now"
    lease_path(shard).write_bytes(Holder("x", "far/1", "", 7, "", "12", "scancel").to_json())
    assert found(context())["writers"].state == "ok", "it has just given a sign of life"
    os.utime(lease_path(shard), (1, 1))
    dead = found(context())["writers"]
    assert dead.state == "warn"
    assert "m/b/0 by job 12, process 7 on far" in dead.detail


def test_the_command(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(project)
    (tmp_path / "run.yaml").write_text("models: [no-such-model]\n")
    runner = CliRunner()
    arguments = ["doctor", "--configfile", str(tmp_path / "run.yaml")]
    done = runner.invoke(app, arguments)
    assert done.exit_code == 1
    assert "no-such-model" in done.stdout
    assert "of 3" in done.stdout.splitlines()[-1] or "checks" in done.stdout.splitlines()[-1]
    checks = json.loads(runner.invoke(app, [*arguments, "--json"]).stdout)
    assert {"name", "state", "detail", "advice"} == {*checks[0]}
    first = checks[0]
    assert (first["name"], first["state"]) == ("run file", "wrong")
    assert "[hf]" in " ".join(check["name"] for check in checks)
    assert "packages [hf]" in done.stdout, "a bracket is no markup"
