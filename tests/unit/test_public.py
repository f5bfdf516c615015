"""`import assay`: light, and everything it names is there."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import assay


def test_every_name_is_there() -> None:
    for name in assay.__all__:
        assert getattr(assay, name) is not None
        assert name in dir(assay)


def test_types_are_written_for_every_name(project: Path) -> None:
    stub = ast.parse((project / "src/assay/__init__.pyi").read_text("utf-8"))
    written = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(written) == assay.__all__
    for name, path in written.items():
        module, _, original = path.rpartition(".")
        assert getattr(assay, name) is getattr(sys.modules[module], original)


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'wrapp'"):
        assay.wrapp  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "import assay",
        "import assay; assay.list_specs(); assay.registry; assay.RuntimeConfig()",
        "import assay; dir(assay); assay.compose, assay.wrap, assay.run, assay.infer_spec",
    ],
)
def test_nothing_heavy_is_imported_before_a_model_is_loaded(code: str) -> None:
    heavy = ("torch", "transformers", "pandas", "datasets", "vllm")
    script = f"{code}\nimport sys; sys.exit(' '.join({set(heavy)} & sys.modules.keys()) or 0)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_the_name_alone_imports_no_other_module() -> None:
    script = "import assay, sys; print([m for m in sys.modules if m.startswith('assay.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
