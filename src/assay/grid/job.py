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
from assay.core.model import Model
from assay.core.pins import portable
from assay.core.spec import ModelSpec
from assay.grid.configuration import Grid
from assay.lease import hold_gpus

#: The distributions whose version is part of what a backend is.
_ENGINES = {"hf_local": ("transformers", "torch")}


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
    """

    spec: ModelSpec
    benchmark: str
    items: Sequence[Item]
    grid: Grid
    max_new_tokens: int
    token_budget: int
    origin: dict[str, Any]
    facts: dict[str, Any]


def backend_version(backend: str) -> str:
    """Return the backend's name with the versions of the libraries that compute for it.

    Raises
    ------
    ModelError
        If a library is not installed.
    """
    parts = [backend]
    for name in _ENGINES[backend]:
        try:
            parts.append(f"{name}={version(name).split('+')[0]}")
        except PackageNotFoundError as error:
            raise ModelError(
                f"backend {backend} needs the package {name}.", fix="pip install 'assay[hf]'."
            ) from error
    return " ".join(parts)


def job_of(
    parameters: str,
    *,
    items: Sequence[Item],
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
    engine = backend_version(identity["backend"])
    return Job(
        spec=spec,
        benchmark=value["benchmark"],
        items=items,
        grid=Grid.model_validate_json(json.dumps(value["grid"])),
        max_new_tokens=identity["decode"]["max_new_tokens"],
        token_budget=identity["token_budget"],
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
                    "source": portable(spec.source).model_dump(mode="json"),
                },
                "snapshot": dict(snapshot),
                "decode": identity["decode"],
                "token_budget": identity["token_budget"],
            },
        },
    )


def load_backend(
    parameters: str, folder: Path, *, device: str, threads: int, gpus: int | None
) -> Model:
    """Load the model of a job on its backend; on GPUs that no other process of this machine has.

    Parameters
    ----------
    gpus : int or None
        GPUs that the scheduler granted; None where nobody counts them.

    Raises
    ------
    ModelError
        If fewer GPUs were granted than the model needs (Snakemake scales requests down silently).
    """
    from assay.models.backends.hf_local import HFLocal

    value = json.loads(parameters)
    spec = ModelSpec.model_validate_json(json.dumps(value["model"]))
    if device == "cuda" and gpus is not None and gpus < spec.gpus:
        raise ModelError(
            f"the job was granted {gpus} GPU(s) and needs {spec.gpus}.",
            where=spec.key,
            fix="raise the limit: snakemake --resources gpu=N.",
        )
    hold_gpus(device, spec.gpus)  # before torch starts CUDA
    dtype = value["identity"]["model"]["dtype"]
    return HFLocal.load(folder, spec, dtype=dtype, device=device, threads=threads)
