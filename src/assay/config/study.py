"""A study: a run file resolved into shards, paths and the parameters of every rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.config.evaluation import CyclePlan, cycle_plans
from assay.config.planned import RESULTS, BenchmarkRun, ShardPlan
from assay.config.schema import RunConfig
from assay.core.errors import ConfigError
from assay.core.identity import canonical_json, digest
from assay.core.pins import PathPin
from assay.core.spec import DESCRIPTIVE, ModelSpec
from assay.grid.configuration import Grid


@dataclass(frozen=True)
class Study:
    """A validated run file with its registries; what the Snakefile works with."""

    config: RunConfig
    models: tuple[ModelSpec, ...]
    benchmarks: tuple[BenchmarkRun, ...]
    grid: Grid

    @cached_property
    def shards(self) -> dict[tuple[str, str, str], ShardPlan]:
        """(model key, benchmark key, run) → shard, in the order of the run file."""
        plans = (
            ShardPlan(model, benchmark, self.grid, self.config)
            for model in self.models
            for benchmark in self.benchmarks
        )
        return {(plan.model.key, plan.benchmark.key, plan.run): plan for plan in plans}

    @cached_property
    def name(self) -> str:
        """Study name plus a digest of its declared shards and analysis parameters."""
        declared = sorted("/".join(key) for key in self.shards)
        return f"{self.config.study}-{digest(declared, length=8)}"

    @cached_property
    def folder(self) -> Path:
        """The folder of tables, figures and report."""
        return RESULTS / self.name

    @cached_property
    def present(self) -> list[ShardPlan]:
        """The shards to analyse: all, or with `allow_missing` those that are finished."""
        plans = list(self.shards.values())
        if not self.config.allow_missing:
            return plans
        finished = [plan for plan in plans if (plan.folder / "manifest.json").is_file()]
        if not finished:
            raise ConfigError(
                "allow_missing is set, but no shard of this study is finished.",
                fix="collect at least one first: run without allow_missing.",
            )
        return finished

    @property
    def absent(self) -> list[str]:
        """Names of the shards that `allow_missing` leaves out."""
        present = {plan.folder for plan in self.present}
        return [
            f"{plan.model.key} × {plan.benchmark.key}"
            for plan in self.shards.values()
            if plan.folder not in present
        ]

    @property
    def analysis_parameters(self) -> str:
        """The parameters of the leaderboard analysis."""
        return canonical_json(
            {
                "study": self.config.study,
                "shards": [plan.folder.as_posix() for plan in self.present],
                "analysis": self.config.analysis.model_dump(),
                "absent": self.absent,
                "allow_missing": self.config.allow_missing,
            }
        )

    @cached_property
    def cycles(self) -> dict[str, CyclePlan]:
        """Name → cycle of the evaluation core, in the order of the run file."""
        folders: dict[str, list[str]] = {}
        for plan in self.present:
            folders.setdefault(plan.model.key, []).append(plan.folder.as_posix())
        return cycle_plans(
            self.config.evaluation, self.grid, folders, seed=self.config.analysis.seed
        )

    @property
    def evaluation_parameters(self) -> str:
        """The parameters of the evaluation page's rule."""
        return canonical_json({"study": self.name, "cycles": list(self.cycles)})

    def figure_parameters(self, figure: str) -> str:
        """Return the parameters of one figure's rule."""
        return canonical_json({"figure": figure, "study": self.name})

    @property
    def report_parameters(self) -> str:
        """The parameters of the report's rule."""
        return canonical_json(
            {
                "study": self.name,
                "report": self.config.report.model_dump(),
                "absent": self.absent,
                "evaluation": bool(self.cycles),
                "licences": {run.key: run.spec.licence for run in self.benchmarks},
                "attributions": {run.key: run.spec.attribution for run in self.benchmarks},
            }
        )

    def source_parameters(self, key: str) -> str:
        """Return the parameters of the rule that fetches model `key`; how it is run is no part."""
        run: dict[str, Any] = dict.fromkeys(
            ("dtype", "gpus", *sorted(DESCRIPTIVE - {"notice"})), True
        )
        model = self.model(key).model_dump(mode="json", exclude=run | {"source": {"access"}})
        return canonical_json({"model": model})

    def model_source(self, key: str) -> Path:
        """Return the file of digests of model `key`; its name follows the pin."""
        source = self.model(key).source
        pin = digest(source.model_dump(mode="json", exclude={"access"}), length=12)
        return RESULTS / "sources" / "models" / key / f"{pin}.json"

    @cached_property
    def model_sources(self) -> dict[str, str]:
        """Model key → its file of digests, for rules that ask once a job."""
        return {model.key: str(self.model_source(model.key)) for model in self.models}

    def gpus(self, key: str) -> int:
        """GPUs that a job of model `key` asks the scheduler for."""
        runtime = self.config.runtime
        if runtime.device in ("cpu", "mps") or self.model(key).served:
            return 0
        if runtime.backend == "vllm_offline":
            return runtime.vllm.tensor_parallel
        return self.model(key).gpus

    def priority(self, key: str) -> int:
        """How early jobs of model `key` are run: in the order of the run file."""
        return len(self.models) - self._places[key]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {model.key: place for place, model in enumerate(self.models)}

    @property
    def collect_environment(self) -> str:
        """The name of the environment (in `envs/`) in which models are asked."""
        runtime = self.config.runtime
        if runtime.backend != "vllm_offline":
            return "hf"
        return "vllm-cpu" if runtime.device == "cpu" else "vllm"

    def model(self, key: str) -> ModelSpec:
        """Return the model named `key`."""
        return self.models[self._places[key]]

    def benchmark(self, key: str, selection: str | None = None) -> BenchmarkRun:
        """Return the benchmark named `key` (and, where given, its selection)."""
        return next(
            run
            for run in self.benchmarks
            if run.key == key and selection in (None, run.selection_name)
        )


def local_files(pin: object) -> list[str]:
    """Return the files behind a path pin, as rule inputs; none for wheels and hubs."""
    if not isinstance(pin, PathPin):
        return []
    path = Path(pin.path).expanduser()
    if path.is_dir():
        return sorted(str(file) for file in path.iterdir() if file.is_file())
    return [str(path)]
