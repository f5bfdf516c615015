"""A copy of the project in which the real workflow runs and files may be edited."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

#: A grid of five configurations, so that a shard takes seconds.
TINY_GRID = {
    "name": "tiny",
    "version": 1,
    "reference": "gen|letter_plain|p0",
    "generation": {
        "orders": ["p0", "p1"],
        "formats": {
            "letter_plain": {
                "labels": "upper",
                "option": "{label}. {option}",
                "prompt": "Question: {question}\n{options}\nAnswer with the letter only:",
            },
            "digit_labels": {
                "labels": "digit",
                "option": "{label}. {option}",
                "prompt": "Question: {question}\n{options}\nAnswer with the number only:",
            },
        },
    },
    "likelihood": {"formats": {"cloze": {"stem": "{question}", "continuation": " {option}"}}},
}

ITEMS = [
    {"id": f"q{n}", "question": question, "options": options, "answer": 0}
    for n, (question, options) in enumerate(
        [
            ("What is the capital of France?", ["Paris", "Rome", "Berlin", "Madrid"]),
            ("Which of these is a metal?", ["Iron", "Wood", "Glass", "Paper"]),
            ("How many days has a week?", ["Seven", "Five", "Six", "Eight"]),
        ]
    )
]

RUN = {
    "study": "test",
    "models": ["smollm2-135m", "smollm2-135m-bf16"],
    "benchmarks": [{"key": "mine"}, {"key": "arc_challenge", "items": 2}],
    "grid": "tiny",
    "runtime": {"token_budget": 256, "threads": 1},
    "evaluation": {"shards": False},
    "define": {
        "benchmarks": {
            "mine": {
                "source": {"kind": "path", "path": "mine.jsonl"},
                "adapter": "generic",
                "licence": "CC0-1.0",
                "columns": {"id": "id"},
            }
        }
    },
}


@dataclass(frozen=True)
class Ran:
    """What one call of Snakemake did: its status, its output, and whose results are new."""

    status: int
    output: str
    made: set[str]


@dataclass
class Workspace:
    """A working copy; `run` is the run file, written before every call."""

    root: Path
    cache: Path
    config: dict[str, Any] = field(default_factory=lambda: json.loads(json.dumps(RUN)))

    @classmethod
    def create(cls, project: Path, root: Path, cache: Path) -> Workspace:
        """Copy what a clone holds, and nothing that a run has made."""
        root.mkdir(parents=True)
        for name in ("Snakefile", "workflow", "config", "scripts", "profiles", "envs", "src"):
            source = project / name
            if source.is_dir():
                ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
                shutil.copytree(source, root / name, ignore=ignore)
            else:
                shutil.copy2(source, root / name)
        (root / "config/grids/tiny.yaml").write_text(yaml.safe_dump(TINY_GRID, sort_keys=False))
        space = cls(root, cache)
        space.write_items(ITEMS)
        return space

    def clone(self, root: Path) -> Workspace:
        """Copy everything, results and Snakemake's memory included, as `cp -a` would."""
        shutil.copytree(self.root, root, symlinks=True)
        return Workspace(root, self.cache, json.loads(json.dumps(self.config)))

    def write_items(self, items: list[dict[str, Any]]) -> None:
        """Write the user's own items file."""
        lines = [json.dumps(item) for item in items]
        (self.root / "mine.jsonl").write_text("\n".join(lines) + "\n")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a user whose checkout this is."""
        return os.environ | {
            "PYTHONPATH": str(self.root / "src"),
            "ASSAY_CACHE": str(self.cache),
            "HF_HUB_OFFLINE": "1",
        }

    def command(self, *arguments: str) -> list[str]:
        """Return the Snakemake command line for the present run file."""
        (self.root / "run.yaml").write_text(yaml.safe_dump(self.config, sort_keys=False))
        return [
            *(sys.executable, "-m", "snakemake", "--cores", "2"),
            *("--configfile", "run.yaml"),
            *arguments,
        ]

    def start(self, *arguments: str, path: Path | None = None) -> subprocess.Popen[bytes]:
        """Start Snakemake in a process group of its own, without its output, to be struck.

        Commands are looked for in the folder `path` first.
        """
        found = os.pathsep.join(filter(None, [str(path or ""), os.environ.get("PATH")]))
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment | {"PATH": found},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def snakemake(self, *arguments: str) -> Ran:
        """Run the workflow and say whose seals are new."""
        before = self.seals()
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        after = self.seals()
        made = {name for name, stamp in after.items() if before.get(name) != stamp}
        return Ran(done.returncode, done.stdout, made)

    def assay(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the `assay` command on the present run file's study."""
        return subprocess.run(
            [sys.executable, "-m", "assay.cli.main", *arguments],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def seals(self) -> dict[str, tuple[int, int]]:
        """Return the name of every rule's result → (time, inode) of its seal."""
        results = self.root / "results"
        found = {}
        for path in results.rglob("*.json"):
            place = path.relative_to(results).parts
            if place[0] in ("logs", "benchmarks") or path.name == "leaderboard.json" != place[-1]:
                continue
            name = self._name(place)
            if name:
                found[name] = (path.stat().st_mtime_ns, path.stat().st_ino)
        return found

    @staticmethod
    def _name(place: tuple[str, ...]) -> str | None:
        match place:
            case ("sources", "benchmarks", benchmark, _):
                return f"fetch_items:{benchmark}"
            case ("sources", "models", model, _):
                return f"fetch_model:{model}"
            case ("snapshots", benchmark, selection, "seal.json"):
                return f"snapshot:{benchmark}:{selection}"
            case ("records", model, benchmark, run, "manifest.json"):
                return f"collect:{model}:{benchmark}:{run}"
            case (_, "manifests", name):
                return name.removesuffix(".json")
        return None

    def shard(self, model: str, benchmark: str) -> Path:
        """Return the folder of the only run of a shard."""
        (folder,) = (self.root / "results/records" / model / benchmark).iterdir()
        return folder

    def data(self) -> dict[str, bytes]:
        """Return the content of everything that must be the same in two runs."""
        patterns = ("records/*/*/*/records.jsonl", "records/*/*/*/prompts.parquet")
        study = ("*/tables/*", "*/figures/*", "*/leaderboard.json")
        results = self.root / "results"
        return {
            path.relative_to(results).as_posix(): path.read_bytes()
            for pattern in (*patterns, *study)
            for path in results.glob(pattern)
        }
