from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from assay.cli.doctor.check import Check, Context
from assay.cli.doctor.software import browser, locks, packages, python, read_lock

Make = Callable[..., Context]


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def test_jobs_must_find_the_same_python(context: Make, tmp_path: Path) -> None:
    beside = str(Path(sys.executable).parent)
    assert python(context(environment={"PATH": beside})).state in ("ok", "warn")
    (tmp_path / "python").symlink_to(sys.executable)
    other = python(context(environment={"PATH": str(tmp_path)}))
    assert other.state == "wrong"
    assert f'export PATH="{beside}:$PATH"' in other.advice
    assert "not on PATH" in python(context(environment={"PATH": ""})).detail


def test_missing_and_unfit_packages_are_wrong_only_where_they_are_needed(
    context: Make, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        f"""[project]
dependencies = ["numpy>=1000", "pydantic>=2"]
[project.optional-dependencies]
workflow = ["no-such-distribution-here>=1"]
report = ["numpy=={version("numpy")}"]
hf = ["no-such-model-library"]
api = ["no-such-client"]
"""
    )
    found = by_name(list(packages(context({}))))
    assert found["packages"].state == "wrong"
    assert found["packages"].detail == f"numpy {version('numpy')} is not >=1000"
    assert found["packages [workflow]"].detail == "no-such-distribution-here is missing"
    assert found["packages [workflow]"].advice.startswith("pip install 'assay[workflow]'")
    assert found["packages [report]"].state == "ok"
    assert found["packages [hf]"].state == "wrong", "the study computes a model here"
    assert found["packages [api]"].state == "skipped", "no model of the study is served"


def test_this_project_fits_its_own_environment(context: Make, project: Path) -> None:
    found = by_name(list(packages(context({}, root=project))))
    assert {found[name].state for name in ("packages", "packages [workflow]")} == {"ok"}


def test_another_version_than_the_locked_one_is_named(context: Make, tmp_path: Path) -> None:
    lock = tmp_path / "envs" / "locks" / "py311.txt"
    lock.parent.mkdir(parents=True)
    lock.write_text(f"# made by hand\nNumPy=={version('numpy')}\npydantic==0.1\nnothing-such==1\n")
    assert list(read_lock(lock)) == ["numpy", "pydantic", "nothing-such"]
    found = locks(context())
    assert found.state == "warn"
    assert f"pydantic {version('pydantic')} (locked 0.1)" in found.detail
    assert "nothing-such is missing" in found.detail
    assert "numpy" not in found.detail
    lock.write_text(f"numpy=={version('numpy')}\n")
    assert locks(context()).state == "ok"


def test_the_browser(context: Make, project: Path, tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path)}
    assert browser(context(environment=nowhere)).state == "skipped"
    assert browser(context(root=project, environment=nowhere)).state == "warn"
    if shutil.which("chromium") is None:
        pytest.skip("no chromium on the path")
    assert browser(context(root=project)).state == "ok"
