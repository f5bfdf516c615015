"""A run file and data, collected in this process: the workflow's steps without the workflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config.closure import code_digest
from assay.config.planned import RESULTS, ShardPlan
from assay.config.registry import read_yaml
from assay.config.resolve import merge, resolve
from assay.config.schema import RunConfig
from assay.config.study import Study
from assay.core.cache import cache_root
from assay.core.errors import ConfigError
from assay.core.files import write_jsonl
from assay.core.identity import digest
from assay.core.validation import validated

if TYPE_CHECKING:
    import pandas as pd

    from assay.benchmarks.snapshot import Snapshot
    from assay.leaderboard import Leaderboard

#: A file of items, an entry as under `define.benchmarks`, or the items themselves.
Data = str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]
#: The benchmark's key where items are handed over without a name.
OWN = "data"


@dataclass(frozen=True)
class Result:
    """What `run` collected.

    Attributes
    ----------
    study : Study
        The run file, resolved.
    shards : tuple of Path
        One folder of records for each model and benchmark.
    """

    study: Study
    shards: tuple[Path, ...]

    def table(self) -> pd.DataFrame:
        """Return one row for each model, item and configuration, as `load_table` reads them."""
        import pandas as pd

        from assay.records.shard import read_shard

        return pd.DataFrame(
            {
                "model": record.model,
                "benchmark": record.benchmark,
                "item": record.native_id,
                "configuration": key,
                "correct": seen.correct,
                "status": seen.status,
                "choice": seen.choice,
                "text": seen.text,
            }
            for shard in self.shards
            for record in read_shard(shard).records()
            for key, seen in record.observations.items()
        )

    def leaderboard(self, *, quick: bool = False) -> Leaderboard:
        """Return the analysis of the shards under the run file's settings."""
        from assay.leaderboard import analyze

        chosen = self.study.config.analysis
        return analyze(
            self.shards,
            study=self.study.config.study,
            alpha=chosen.alpha,
            equivalence_margin=chosen.equivalence_margin,
            seed=chosen.seed,
            allow_missing=self.study.config.allow_missing,
            quick=quick,
        )


def load_config(*files: str | Path) -> dict[str, Any]:
    """Return run files laid over each other; `benchmarks` and `study` may be left out.

    Raises
    ------
    ConfigError
        Naming every wrong key, with the allowed ones.
    """
    config: dict[str, Any] = {}
    for file in files:
        merge(config, read_yaml(Path(file)))
    where = " + ".join(map(str, files))
    validated(RunConfig, {"study": "run", "benchmarks": [{"key": OWN}]} | config, where=where)
    return config


def run(
    config: Mapping[str, Any],
    data: Data | None = None,
    *,
    out: str | Path,
    registries: str | Path = "config",
) -> Result:
    """Ask every model of `config` the items of `data` under its grid, in this process.

    What is asked, recorded and resumed is what the workflow does with the same run file: the
    answers are journalled in `out`, and a second call asks only what is missing.

    Parameters
    ----------
    config : mapping
        A run file (`load_config`), or the same written in Python.
    data : path, mapping or sequence of mappings, optional
        A JSONL, CSV or parquet file with the columns question, options and answer; a benchmark
        entry, for other columns; or rows of these columns. The benchmarks of `config` if None.
    out : path
        Folder for snapshots and records.
    registries : path
        Folder of ``models.yaml``, ``benchmarks.yaml`` and ``grids/``.

    Raises
    ------
    ConfigError
        If the configuration is wrong, or there is nothing to ask.
    CapabilityError
        If a backend cannot give what the grid asks; no weight is loaded.
    """
    place = Path(out)
    settings = {"study": "run"} | dict(config)
    if data is not None:
        settings = _with_data(settings, data, place)
    elif not settings.get("benchmarks"):
        raise ConfigError("there is nothing to ask.", fix="give data, or name benchmarks.")
    study = resolve(settings, where="run", registries=Path(registries))
    offline = study.config.offline
    snapshots = {b.key: _snapshot(study, b, place) for b in study.benchmarks}
    shards: list[Path] = []
    for model in study.models:
        plans = [plan for plan in study.shards.values() if plan.model == model]
        shards += _collect(plans, snapshots, place, offline=offline)
    return Result(study, tuple(shards))


def _with_data(settings: dict[str, Any], data: Data, place: Path) -> dict[str, Any]:
    """Return the configuration with `data` as its only benchmark."""
    key, entry = OWN, data
    if isinstance(data, Sequence) and not isinstance(data, str):
        rows = [dict(row) for row in data]
        data = place / "sources" / f"{digest(rows, length=12)}.jsonl"
        write_jsonl(data, rows)
    elif isinstance(data, str | Path):
        key = Path(data).stem
    if not isinstance(data, Mapping):
        source = {"kind": "path", "path": str(data)}
        entry = {"source": source, "adapter": "generic", "licence": "unknown"}
    define = dict(settings.get("define", {}))
    define["benchmarks"] = {**define.get("benchmarks", {}), key: entry}
    return settings | {"define": define, "benchmarks": [{"key": key}]}


def _snapshot(study: Study, benchmark: Any, place: Path) -> Snapshot:
    from assay.benchmarks.snapshot import build_snapshot, read_snapshot

    target = _below(place, benchmark.snapshot)
    build_snapshot(
        benchmark.spec,
        benchmark.selection,
        cache=cache_root(),
        offline=study.config.offline,
        target=target,
    )
    return read_snapshot(target)


def _collect(
    plans: Sequence[ShardPlan], snapshots: Mapping[str, Snapshot], place: Path, *, offline: bool
) -> list[Path]:
    """Collect all shards of one model, which is loaded once and only if it must be asked."""
    from assay.grid import collect as collecting
    from assay.grid.job import job_of, load_backend, prompter, unused
    from assay.models.fetch import locate_model
    from assay.models.files import refuse_altered

    model = locate_model(plans[0].model, cache=cache_root(), offline=offline)
    folder = cache_root() / model.folder if model.folder else None
    asked = prompter(plans[0].model, folder)
    runtime = plans[0].config.runtime

    @cache
    def load(replies: Path | None) -> Any:
        if folder:
            refuse_altered(folder, model.digests)
        return load_backend(
            plans[0].parameters,
            folder,
            out=replies or place,
            device=runtime.device,
            threads=runtime.threads,
            gpus=None,
        )

    shards = [_below(place, plan.folder) for plan in plans]
    for plan, shard in zip(plans, shards, strict=True):
        snapshot = snapshots[plan.benchmark.key]
        job = job_of(
            plan.parameters,
            items=snapshot.items,
            pool=snapshot.fewshot,
            snapshot=snapshot.provenance(),
            digests=model.digests,
            code=code_digest(Path(collecting.__file__)),
        )
        # A server's replies are kept beside each shard; weights serve all shards alike.
        backend = partial(load, None if folder else shard)
        collecting.collect(job, shard, asked, backend, keep_missing=runtime.keep_missing)
        if folder and load.cache_info().currsize:
            unused(load(None))
    return shards


def _below(place: Path, path: Path) -> Path:
    """Return where a path of the workflow's results lies under `place`."""
    return place / path.relative_to(RESULTS)
