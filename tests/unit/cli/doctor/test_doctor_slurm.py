"""SLURM's own programs against a controller that is dead; the living one is in tests/slurm."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.cli.doctor.check import Context
from assay.cli.doctor.runs import runs
from assay.cli.doctor.slurm import (
    Partition,
    minutes,
    named,
    preemption,
    read_partitions,
    slurm,
    status_of_jobs,
)
from support.ports import free_port

Make = Callable[..., Context]


@pytest.fixture
def dead_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("sinfo") is None:
        pytest.skip("SLURM's programs are not installed")
    path = tmp_path / "slurm.conf"
    lines = ["ClusterName=dead", "SlurmctldHost=localhost(127.0.0.1)", "AuthType=auth/none"]
    path.write_text("\n".join([*lines, f"SlurmctldPort={free_port()}", "MessageTimeout=2", ""]))
    monkeypatch.setenv("SLURM_CONF", str(path))


def test_a_dead_controller(context: Make, dead_controller: None) -> None:
    (found,) = slurm(context({}, profile={"executor": "slurm"}))
    assert (found.name, found.state) == ("slurm", "wrong")
    assert "Unable to contact slurm controller" in found.detail
    orphans = next(check for check in runs(context({})) if check.name == "orphans")
    assert orphans.state == "wrong"


def test_programs_without_a_slurm(
    context: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("sinfo") is None:
        pytest.skip("SLURM's programs are not installed")
    if Path("/etc/slurm/slurm.conf").exists():
        pytest.skip("this machine has a SLURM")
    monkeypatch.delenv("SLURM_CONF", raising=False)
    (found,) = slurm(context({}))
    assert found.state == "skipped"
    assert {check.state for check in runs(context({}))} == {"ok", "skipped"}


def test_no_slurm(context: Make, tmp_path: Path) -> None:
    (found,) = slurm(context({}, environment={"PATH": str(tmp_path)}))
    assert found.state == "skipped"


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("2:00:00", 120),
        ("30:00", 30),
        ("1-00:00:00", 1440),
        ("7-12:00:00", 10800),
        ("infinite", math.inf),
        ("n/a", math.inf),
    ],
)
def test_time_limits(limit: str, value: float) -> None:
    assert minutes(limit) == value


def test_partitions_of_several_lines() -> None:
    text = "cpu*|up|2:00:00|(null)\nmixed|up|infinite|(null)\nmixed|up|infinite|gpu:h100:4\n"
    assert read_partitions(text + "old|down|1:00|gpu:1\n") == [
        Partition("cpu", True, 120, False),
        Partition("mixed", False, math.inf, True),
    ]


def test_what_the_shipped_profile_names(project: Path) -> None:
    from assay.config.registry import read_yaml

    profile = read_yaml(project / "profiles/slurm/config.yaml")
    assert profile["slurm-status-command"] == "squeue"
    assert profile["retries"] >= 1
    assert not profile.get("slurm-array-jobs")
    assert named(profile, "slurm_partition") == named(profile, "slurm_account") == ""
    own = {"default-resources": {"slurm_partition": "'cpu'"}}
    own["set-resources"] = {"collect": {"slurm_partition": "gpu"}}
    assert (named(own, "slurm_partition"), named(own, "slurm_partition", "collect")) == (
        "cpu",
        "gpu",
    )


@pytest.mark.parametrize(
    ("profile", "age", "accounted", "state", "words"),
    [
        ({"slurm-status-command": "squeue"}, "3600 sec", False, "ok", "3600 s"),
        ({"slurm-status-command": "squeue"}, "300 sec", False, "ok", "300 s"),
        ({"slurm-status-command": "squeue"}, "150 sec", False, "warn", "MinJobAge >= 180"),
        ({"slurm-status-command": "squeue"}, "60 sec", True, "warn", "to 20 or less"),
        ({"slurm-status-command": "squeue"}, "60 sec", False, "wrong", "to 20 or less"),
        ({"slurm-status-command": "squeue"}, "", False, "warn", "does not tell"),
        ({}, "3600 sec", True, "warn", "waited for for ever"),
        ({}, "3600 sec", False, "wrong", "dropped silently"),
        ({"slurm-array-jobs": "all"}, "3600 sec", True, "wrong", "arrays"),
    ],
)
def test_whether_ends_are_seen(
    profile: dict[str, Any],
    age: str,
    accounted: bool,
    state: str,
    words: str,
) -> None:
    found = status_of_jobs(profile, {"MinJobAge": age} if age else {}, accounted=accounted)
    assert found.state == state
    assert words in f"{found.detail} {found.advice}"


def test_preemption_that_the_plugin_does_not_see() -> None:
    assert preemption({"PreemptMode": "GANG,CANCEL"}).state == "warn"
    assert preemption({"PreemptMode": "REQUEUE"}).state == "ok"
