"""The cycles of a study: one for each model on its own shards, and those of a user's manifests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.config.schema import Evaluation
from assay.core.errors import ConfigError
from assay.core.identity import canonical_json, sha256_file
from assay.core.validation import validated
from assay.evaluation.manifest import CycleManifest, read_manifest
from assay.evaluation.policy import load_policy
from assay.evaluation.registries import Kind, project_file
from assay.grid.configuration import Configuration, Grid

#: Rules of a cycle in their order; the last where equal arms are asked for.
STEPS = (
    "normalize",
    "diagnose_capabilities",
    "propose_hypotheses",
    "compare_experiment",
    "decide",
    "a_a",
)
#: Files of a job whose change changes what an adapter reads.
_LOGS = (".json", ".jsonl", ".csv", ".parquet", ".eval", ".gz")


@dataclass(frozen=True)
class CyclePlan:
    """One cycle of the workflow.

    Attributes
    ----------
    folder : Path
        What the manifest's paths are relative to.
    own : bool
        Whether it is about the study's own shards.
    equal_arms, seed : int
        Splits of the baseline into equal arms, 0 for none, and what draws them.
    """

    name: str
    manifest: CycleManifest
    folder: Path
    own: bool
    equal_arms: int
    seed: int

    @cached_property
    def parameters(self) -> str:
        """The parameters of the cycle's rules."""
        value = self.manifest.model_dump(
            mode="json", by_alias=True, exclude={"llm"}, exclude_defaults=True
        )
        registered = {path: sha256_file(Path(path)) for path in sorted(self._registered())}
        return canonical_json(
            {
                "cycle": self.name,
                "manifest": value,
                "folder": self.folder.as_posix(),
                "equal_arms": self.equal_arms,
                "seed": self.seed,
                **({"registered": registered} if registered else {}),
            }
        )

    @property
    def steps(self) -> tuple[str, ...]:
        """The rules that make up the cycle, each with a script of its name."""
        return STEPS if self.equal_arms else STEPS[:-1]

    def inputs(self) -> list[str]:
        """Return the files that the cycle reads, logs of jobs one by one."""
        if self.own:
            shards = [f"{source}/manifest.json" for source in self.manifest.baseline.sources]
            return shards + sorted(self._registered())
        named = [self.manifest.taxonomy, self.manifest.previous]
        runs = list(self.manifest.runs().values())
        sources = [source for arm in runs for source in arm.sources]
        verdicts = [str(arm.options["verdicts"]) for arm in runs if arm.options.get("verdicts")]
        paths = [self.folder / name for name in (*named, *sources, *verdicts) if name is not None]
        found = {str(file) for path in paths for file in _files(path.expanduser())}
        return sorted(found | self._registered())

    def _registered(self) -> set[str]:
        """Return the files of the policy and of tables of failures that are the project's own."""
        policy = self.manifest.policy
        name = policy if isinstance(policy, str) else str(policy.get("name", "statistical"))
        tables = [arm.options.get("failures") for arm in self.manifest.runs().values()]
        named: list[tuple[Kind, str]] = [("policies", name)]
        named += [("failures", str(table)) for table in tables if table]
        found = (project_file(kind, one, self.folder) for kind, one in named)
        return {str(path) for path in found if path is not None and path.is_file()}


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    yield from (file for file in path.rglob("*") if file.suffix in _LOGS and file.is_file())


def cycle_plans(
    chosen: Evaluation, grid: Grid, shards: dict[str, list[str]], *, seed: int
) -> dict[str, CyclePlan]:
    """Return name → cycle of a study.

    Parameters
    ----------
    shards : dict
        Model → folders of its shards.

    Raises
    ------
    ConfigError
        If a manifest is wrong, or two cycles have one name.
    """
    plans = {}
    if chosen.shards and shards:
        pattern = own_manifest(chosen, grid, *next(iter(shards.items())))
        for model, folders in shards.items():
            manifest = _of_model(pattern, model, folders)
            plans[model] = CyclePlan(model, manifest, Path(), True, chosen.equal_arms, seed)
    for name, path in chosen.cycles.items():
        if name in plans:
            raise ConfigError(
                f"{name} is a model's cycle already.", where="evaluation.cycles", fix="rename it."
            )
        manifest = read_manifest(Path(path)).model_copy(update={"cycle_id": name})
        folder = Path(path).parent
        plans[name] = CyclePlan(name, manifest, folder, False, chosen.equal_arms, seed)
    return plans


def own_manifest(
    chosen: Evaluation, grid: Grid, model: str, folders: Sequence[str]
) -> CycleManifest:
    """Return the manifest by which a model's shards are a cycle.

    Its capabilities are subjects and the levels of the grid's axes; its experiments replace every
    level by the reference's, on the same items.
    """
    load_policy(chosen.policy)  # a name that there is not is better told before hours of work
    every, tried = list(grid.configurations()), list(_interventions(grid))
    ways = [one.key for one in every if grid.role(one) is None]
    part: dict[str, Any] = {}
    if len(ways) < len(every):
        part["filters"] = {"variants": ways}
    if chosen.failures is not None:
        part["options"] = {"failures": chosen.failures}
    value: dict[str, Any] = {
        "cycleId": model,
        "taxonomy": chosen.taxonomy,
        # A shard measures neither cost nor latency nor safety of an answer.
        "policy": {"name": chosen.policy, "guardrails": []},
        "baseline": {"name": model, "job": list(folders), **part},
        "experiments": tried,
    }
    if chosen.expected is not None:
        value["policy"]["expected_success_rate"] = chosen.expected
    return validated(CycleManifest, value, where="evaluation")


def _of_model(pattern: CycleManifest, model: str, folders: Sequence[str]) -> CycleManifest:
    """Return one model's manifest as another's: only its name and its shards differ."""
    baseline = pattern.baseline.model_copy(update={"name": model, "job": tuple(folders)})
    return pattern.model_copy(update={"cycle_id": model, "baseline": baseline})


def _interventions(grid: Grid) -> Iterator[dict[str, Any]]:
    """Yield an experiment for each level of an axis that is not the reference's."""
    every = {one.key: one for one in grid.configurations() if grid.role(one) is None}
    reference = every[grid.reference]
    for axis in ("format", "order"):
        usual = getattr(reference, axis)
        levels = dict.fromkeys(getattr(one, axis) for one in every.values())
        for level in levels:
            pairs = [
                (key, other)
                for key, one in every.items()
                if getattr(one, axis) == level
                and (other := _counterpart(one, axis, reference)) in every
            ]
            if level in (None, usual) or not pairs:
                continue
            yield {
                "name": f"{usual} for {level}",
                "replaces": {"variants": [key for key, _ in pairs]},
                "filters": {"variants": list(dict.fromkeys(other for _, other in pairs))},
                "hypothesis": {"proposedChange": f"Ask with {axis} {usual} in place of {level}."},
            }


def _counterpart(one: Configuration, axis: str, reference: Configuration) -> str:
    """Return the key of the configuration with the reference's level of `axis`."""
    if one.scoring != reference.scoring:
        return reference.key
    parts = {"format": one.format, "order": one.order} | {axis: getattr(reference, axis)}
    return Configuration(one.scoring, parts["format"], parts["order"]).key
