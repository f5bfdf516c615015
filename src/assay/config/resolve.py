"""From run files to a study: merge, validate, and look up what they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.benchmarks.spec import Selection
from assay.config.evaluation import cycle_plans
from assay.config.planned import RESULTS, BenchmarkRun
from assay.config.registry import load_benchmark, load_grid, load_model, read_yaml
from assay.config.schema import RunConfig
from assay.config.study import Study
from assay.core.capability import provided_by, require
from assay.core.errors import ConfigError
from assay.core.spec import ModelSpec
from assay.core.validation import validated
from assay.grid.configuration import Grid
from assay.grid.consumers import needed

#: What is reserved in `results/` and thus no study's name.
_RESERVED = {"records", "snapshots", "sources", "logs", "benchmarks"}


def resolve(config: Mapping[str, Any], *, where: str, registries: Path = Path("config")) -> Study:
    """Validate a run configuration and look up what it names.

    Parameters
    ----------
    config : mapping
        The merged configuration, as Snakemake hands it over.
    where : str
        The file name for error messages.
    registries : Path
        The folder of ``models.yaml``, ``benchmarks.yaml`` and ``grids/``.

    Raises
    ------
    ConfigError
        Naming the key, what is wrong with it and what is allowed; or if ``results`` is a file.
    """
    run = validated(RunConfig, dict(config), where=where)
    if RESULTS.exists() and not RESULTS.is_dir():
        raise ConfigError(
            "this is where records, tables and reports go, and it is no folder.",
            where=RESULTS,
            fix="move the file away.",
        )
    if run.study in _RESERVED:
        raise ConfigError(f"study may not be called {run.study!r}.", where=where)
    _refuse_repeats("models", list(run.models), where)
    _refuse_repeats("benchmarks", [choice.key for choice in run.benchmarks], where)
    benchmarks = tuple(
        BenchmarkRun(
            load_benchmark(registries, choice.key, run.define.benchmarks),
            Selection(rule=choice.selection, items=choice.items, pool=choice.pool),
        )
        for choice in run.benchmarks
    )
    models = tuple(load_model(registries, key, run.define.models) for key in run.models)
    _refuse_weights_behind_api(run, models, where)
    grid = load_grid(registries, run.grid)
    _refuse_unfit_grid(run, benchmarks, grid, where)
    study = Study(run, models, benchmarks, grid)
    wanted = needed(grid)
    for plan in study.shards.values():
        # Before a single job: a backend that cannot answer is refused without loading a weight.
        given, model = provided_by(plan.backend), plan.model.key
        require(wanted, given, consumer="the grid", model=model)
    cycle_plans(run.evaluation, grid, {model.key: ["shards"] for model in models}, seed=0)
    return study


def _refuse_unfit_grid(
    run: RunConfig, benchmarks: Sequence[BenchmarkRun], grid: Grid, where: str
) -> None:
    least = grid.generation.least_new_tokens
    if run.decode.max_new_tokens < least:
        raise ConfigError(
            f"grid {grid.name} has answers of several words, and decode.max_new_tokens is "
            f"{run.decode.max_new_tokens}.",
            where=where,
            fix=f"set decode.max_new_tokens to {least} or more.",
        )
    short = [one.key for one in benchmarks if one.selection.pool_size < grid.fewshot]
    if short:
        raise ConfigError(
            f"grid {grid.name} shows {grid.fewshot} examples, and {', '.join(short)} keeps fewer "
            "items back for them.",
            where=where,
            fix=f"set `pool: {grid.fewshot}` beside the benchmark's key.",
        )


def _refuse_weights_behind_api(run: RunConfig, models: Sequence[ModelSpec], where: str) -> None:
    weights = [model.key for model in models if not model.served]
    if run.runtime.backend == "api" and weights:
        raise ConfigError(
            f"runtime.backend is api, but {', '.join(weights)} is no model behind a server.",
            where=where,
            fix="give its entry a source of kind api, or leave backend at auto.",
        )


def _refuse_repeats(kind: str, names: list[str], where: str) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigError(f"{kind} lists {', '.join(repeated)} more than once.", where=where)


def load_study(*files: Path) -> Study:
    """Return the study of run files laid over each other, as Snakemake's ``--configfile`` does."""
    merged: dict[str, Any] = {}
    for file in files:
        merge(merged, read_yaml(file))
    return resolve(merged, where=" + ".join(str(file) for file in files))


def merge(into: dict[str, Any], other: Mapping[str, Any]) -> None:
    """Lay `other` over `into`: mappings unite, everything else is replaced."""
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value
