"""The real workflow under the shipped SLURM profile, on whatever SLURM this machine shows."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from support.workspace import Ran, Workspace

#: Seconds after which a run is interrupted: a plugin that misses a state would wait for ever.
LIMIT = 240


def answers() -> bool:
    """Return whether a SLURM answers here."""
    try:
        done = subprocess.run(["sinfo"], capture_output=True, check=False, timeout=20)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def until(condition: Callable[[], Any], seconds: float = 90) -> Any:
    """Return the first true value of `condition`."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "this never came true"
        time.sleep(0.1)
    return value


@dataclass(frozen=True)
class Job:
    """A job as `squeue` tells of it, ended ones included."""

    id: str
    state: str
    rule: str
    start: str
    end: str


@dataclass
class Cluster(Workspace):
    """A workspace whose jobs are submitted."""

    begun: list[subprocess.Popen[str]] = field(default_factory=list)

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of the shipped profile; it looks soon, as its jobs are short."""
        (self.root / "run.yaml").write_text(yaml.safe_dump(self.config, sort_keys=False))
        return [
            *(sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm"),
            *("--configfile", "run.yaml", "--slurm-init-seconds-before-status-checks", "9"),
            *arguments,
        ]

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a run; `end_all` ends it if nobody else does."""
        process = subprocess.Popen(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.begun.append(process)
        return process

    def end(self, process: subprocess.Popen[str], limit: float = LIMIT) -> Ran:
        """Wait for a run; one that takes too long is interrupted as a user would, then killed."""
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                output, _ = process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
            raise AssertionError(f"the run had not ended after {limit} s:\n{output}") from None
        return Ran(process.returncode, output, set())

    def end_all(self) -> None:
        """End what still runs: the runs first, or they would submit ended jobs again."""
        for process in self.begun:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        left = [job.id for job in self.jobs() if job.state in ("PENDING", "RUNNING")]
        if left:
            subprocess.run(["scancel", *left], check=True)

    def snakemake(self, *arguments: str) -> Ran:
        """Run the workflow to its end."""
        return self.end(self.begin(*arguments))

    def jobs(self, output: str = "") -> list[Job]:
        """Return this workspace's jobs in the order of submission; of one run by its `output`."""
        form = "%i|%T|%k|%S|%e|%j|%Z"
        done = subprocess.run(
            ["squeue", "--states=all", "--noheader", "--sort=i", f"--format={form}"],
            capture_output=True,
            text=True,
            check=True,
        )
        run = re.search(r"SLURM run ID: (\S+)", output)
        found = []
        for line in done.stdout.splitlines():
            number, state, comment, start, end, name, folder = line.split("|")
            if folder == str(self.root) and (not run or name == run[1]):
                rule = comment.removeprefix("rule_").partition("_wildcards_")[0]
                found.append(Job(number, state, rule, start, end))
        return found

    def running(self) -> Job | None:
        """Return a job that runs now, if there is one."""
        return next((job for job in self.jobs() if job.state == "RUNNING"), None)

    def serve(self, url: str, **access: Any) -> None:
        """Let the run ask only the model behind the server at `url`."""
        source = {
            "kind": "api",
            "base_url": url,
            "model": "words-1",
            "access": {"timeout_s": 60} | access,
        }
        entry = {"family": "words", "licence": "none", "source": source, "memory_mb": 1000}
        self.config["define"]["models"] = {"served": entry}
        self.config["models"] = ["served"]

    def manifest(self, model: str = "served") -> dict[str, Any]:
        """Return the manifest of a model's only shard of the user's own items."""
        value: dict[str, Any] = json.loads(
            (self.shard(model, "mine") / "manifest.json").read_text("utf-8")
        )
        return value

    def log(self, rule: str) -> str:
        """Return what the jobs of a rule said, all logs together."""
        paths = sorted((self.root / "results/logs" / rule).glob("*.log"))
        return "\n".join(path.read_text("utf-8") for path in paths)

    @classmethod
    def build(cls, project: Path, root: Path, cache: Path) -> Cluster:
        """Return a workspace of one benchmark whose jobs fit into a small partition."""
        space = cls.create(project, root, cache)
        assert isinstance(space, Cluster)
        space.config["benchmarks"] = [{"key": "mine"}]
        space.config["models"] = ["smollm2-135m"]
        space.config["runtime"] |= {"minutes": 5}
        return space
