"""A shard before it is collected: one model on one benchmark, its paths and its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.benchmarks.spec import BenchmarkSpec, Selection
from assay.config.schema import RunConfig
from assay.core.identity import canonical_json, canonical_object, digest, sha256_text
from assay.core.spec import DESCRIPTIVE, ModelSpec
from assay.grid.configuration import Grid
from assay.grid.protocol import PROTOCOL_VERSION

RESULTS = Path("results")


@dataclass(frozen=True)
class BenchmarkRun:
    """A benchmark and the selection of its items that is asked."""

    spec: BenchmarkSpec
    selection: Selection

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What decides the items."""
        return {"benchmark": self.spec.identity(), "selection": self.selection.identity()}

    @cached_property
    def identity_texts(self) -> dict[str, str]:
        """The canonical JSON of each part of `identity`."""
        return {name: canonical_json(value) for name, value in self.identity.items()}

    @property
    def key(self) -> str:
        """The benchmark's name in paths and records."""
        return self.spec.key

    @cached_property
    def selection_name(self) -> str:
        """The folder name of the snapshot under the benchmark's."""
        size = "all" if self.selection.items is None else str(self.selection.items)
        return f"{self.selection.rule}-{size}-{digest(self.identity, length=8)}"

    @cached_property
    def parameters(self) -> str:
        """The parameters of the rules that fetch and freeze the items."""
        return canonical_json(
            {
                "benchmark": self.spec.model_dump(mode="json"),
                "selection": self.selection.model_dump(mode="json"),
            }
        )

    @property
    def source(self) -> Path:
        """The file of source digests."""
        return RESULTS / "sources" / "benchmarks" / self.key / f"{self.selection_name}.json"

    @cached_property
    def snapshot(self) -> Path:
        """The folder of the snapshot."""
        return RESULTS / "snapshots" / self.key / self.selection_name


@dataclass(frozen=True)
class ShardPlan:
    """One collect job: a model, a benchmark and everything that decides the answers."""

    model: ModelSpec
    benchmark: BenchmarkRun
    grid: Grid
    config: RunConfig

    @property
    def dtype(self) -> str:
        """The model's own dtype, else the run's; a server does not say."""
        return self.model.dtype or ("unstated" if self.model.served else self.config.runtime.dtype)

    @cached_property
    def backend(self) -> str:
        """The backend with `auto` resolved: `hf_local`, which every environment has."""
        if self.model.served:
            return "api"
        named = self.config.runtime.backend
        return "hf_local" if named == "auto" else named

    @property
    def identity(self) -> dict[str, Any]:
        """Everything declared that decides what the model is asked and how it may answer."""
        shared = self.benchmark.identity | {"grid": self.grid.identity()}
        return self._own_identity | shared

    @property
    def _own_identity(self) -> dict[str, Any]:
        return {
            "protocol": PROTOCOL_VERSION,
            "model": self.model.identity() | {"dtype": self.dtype},
            "decode": self.config.decode.model_dump(),
            "backend": self.backend,
            **self._engine,
        }

    @property
    def _identity_text(self) -> str:
        """The canonical JSON of `identity`, from parts that thousands of shards share."""
        own = {name: canonical_json(value) for name, value in self._own_identity.items()}
        shared = self.benchmark.identity_texts | {"grid": self.grid.identity_text}
        return canonical_object(own | shared)

    @property
    def _engine(self) -> dict[str, Any]:
        """What decides how the backend computes, as far as it can change an answer."""
        if self.model.served:
            # A server plans for itself: another budget would only ask, and pay for, all again.
            return {}
        budget = {"token_budget": self.config.runtime.token_budget}
        if self.backend != "vllm_offline":
            return budget
        return budget | {"engine": self.config.runtime.vllm.model_dump(mode="json")}

    @cached_property
    def run(self) -> str:
        """The run's name in the path: 12 hex digits of its identity."""
        return sha256_text(self._identity_text)[:12]

    @cached_property
    def folder(self) -> Path:
        """The folder of the shard."""
        return RESULTS / "records" / self.model.key / self.benchmark.key / self.run

    @property
    def parameters(self) -> str:
        """The job's parameters as canonical JSON (what the script is given)."""
        model = self.model.model_dump(mode="json", exclude={*DESCRIPTIVE})
        return canonical_object(
            {
                "identity": self._identity_text,
                "model": canonical_json(model),
                "benchmark": canonical_json(self.benchmark.key),
                "grid": self.grid.text,
                "run": canonical_json(self.run),
            }
        )
