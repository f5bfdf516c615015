from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.cli.doctor.check import Context
from assay.config import resolve

Make = Callable[..., Context]


@pytest.fixture
def context(project: Path, tmp_path: Path) -> Make:
    """Return a maker of contexts: a study of `define`d models and benchmarks in an empty folder."""

    def make(config: dict[str, Any] | None = None, **fields: Any) -> Context:
        study = None
        if config is not None:
            base = {"study": "t", "models": ["smollm2-135m"], "benchmarks": [{"key": "mmlu"}]}
            study = resolve(base | config, where="test", registries=project / "config")
        environment = {**os.environ, **fields.pop("environment", {})}
        values = {"root": tmp_path, "cache": tmp_path / "cache", "environment": environment}
        return Context(study=study, **values | fields)

    return make
