"""The floors of the design: a package imports only what lies below it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

FLOORS = {
    "core": 0,
    "stats": 1,
    "extraction": 1,
    "plots": 1,
    "lease": 1,
    "benchmarks": 2,
    "records": 2,
    "models": 3,
    "grid": 4,
    "leaderboard": 6,
    "evaluation": 6,
    "export": 7,
    "report": 8,
    "config": 9,
    "cli": 9,
}
#: Heavy packages and the only places that may import them.
HEAVY = {
    "torch": ("models", "grid"),
    "transformers": ("models", "grid"),
    "vllm": ("models", "grid"),
    "httpx2": ("models/backends/api",),
    "tenacity": ("models/backends/api",),
    "datasets": ("benchmarks/sources",),
    "huggingface_hub": ("benchmarks/sources",),
}


def imports(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide from the code digest"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def modules(project: Path) -> list[tuple[str, Path]]:
    source = project / "src" / "assay"
    files = [path for path in source.rglob("*.py") if path.parent != source]
    return [(path.relative_to(source).parts[0], path) for path in files]


def test_every_package_has_a_floor(project: Path) -> None:
    assert {package for package, _ in modules(project)} == set(FLOORS)


def test_a_floor_imports_only_floors_below(project: Path) -> None:
    wrong = []
    for package, path in modules(project):
        for name in imports(path):
            parts = name.split(".")
            if parts[0] != "assay" or parts[1] == package:
                continue
            below = FLOORS[parts[1]] < FLOORS[package]
            # The command line is the one consumer of its neighbour.
            if not below and (package, parts[1]) != ("cli", "config"):
                wrong.append(f"{path}: {name}")
    assert not wrong


def test_heavy_packages_stay_in_their_floors(project: Path) -> None:
    source = project / "src" / "assay"
    wrong = []
    for _, path in modules(project):
        place = path.relative_to(source).as_posix()
        for name in imports(path):
            allowed = HEAVY.get(name.split(".")[0])
            if allowed and not place.startswith(allowed):
                wrong.append(f"{place}: {name}")
    assert not wrong


def test_modules_are_small(project: Path) -> None:
    files = [*project.glob("src/**/*.py"), *project.glob("scripts/*.py")]
    limits = {"src": 300, "scripts": 60}
    long = [
        (str(path), lines)
        for path in files
        if (lines := len(path.read_text("utf-8").splitlines()))
        > limits[path.relative_to(project).parts[0]]
    ]
    assert not long


@pytest.mark.parametrize(
    "heavy", ["torch", "transformers", "pandas", "datasets", "scipy", "httpx2"]
)
def test_the_snakefile_imports_nothing_heavy(heavy: str) -> None:
    code = f"import assay.config, sys; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
