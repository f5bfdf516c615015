"""Small random models of several architectures, and the embedded models where they are at hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.config.registry import load_model
from assay.core.pins import PathPin
from assay.core.spec import ModelSpec
from assay.models.fetch import ModelFiles, fetch_model
from assay.models.render import Renderer

if TYPE_CHECKING:
    from assay.models.backends.hf_local import HFLocal


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, ModelSpec]]:
    """Return a function that saves a small random model of an architecture, once."""
    from models_oracle import TINY, build

    root = tmp_path_factory.mktemp("tiny")

    def get(name: str) -> tuple[Path, ModelSpec]:
        folder = root / name
        if not folder.exists():
            build(TINY[name]).save_pretrained(folder)
        source = PathPin(path=str(folder))
        return folder, ModelSpec(key=name, family=name, source=source, licence="none", chat="plain")

    return get


@dataclass(frozen=True)
class Embedded:
    """An embedded model, loaded."""

    spec: ModelSpec
    files: ModelFiles
    renderer: Renderer
    runtime: HFLocal
    #: The same weights under eager attention, for plain transformers calls.
    reference: Any


@pytest.fixture(scope="session", params=["smollm2-135m", "gemma3-270m"])
def embedded(request: pytest.FixtureRequest, project: Path, assay_cache: Path) -> Embedded:
    """Return each embedded model in float32; fetched into `$ASSAY_CACHE` if need be."""
    import torch
    from transformers import AutoModelForCausalLM

    from assay.models.backends.hf_local import HFLocal

    spec = load_model(project / "config", request.param, {})
    files = fetch_model(spec, cache=assay_cache, offline=False)
    reference = AutoModelForCausalLM.from_pretrained(
        files.folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    runtime = HFLocal.load(files.folder, spec, dtype="float32", device="cpu")
    return Embedded(spec, files, Renderer(files.folder, spec), runtime, reference)


@pytest.fixture(scope="session")
def real_items(shared: Path) -> Callable[[str, int], list[dict[str, Any]]]:
    """Return a function giving the first items with four options of a real benchmark."""

    def get(name: str, count: int) -> list[dict[str, Any]]:
        raw = gzip.decompress((shared / "data" / "mcq" / name).read_bytes())
        items = (json.loads(line) for line in raw.split(b"\n") if line)
        return [item for item in items if len(item["options"]) == 4][:count]

    return get
