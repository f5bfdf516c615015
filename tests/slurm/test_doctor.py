"""What `assay doctor` says of a SLURM that works, and of a profile that does not fit it."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import yaml

from support.cluster import Cluster

pytestmark = pytest.mark.slurm


def examined(space: Cluster, **settings: Any) -> dict[str, dict[str, str]]:
    """Return the checks by name, with `settings` laid over the shipped profile."""
    path = space.root / "profiles/slurm/config.yaml"
    profile = yaml.safe_load(path.read_text("utf-8"))
    path.write_text(yaml.safe_dump(profile | settings))
    (space.root / "run.yaml").write_text(yaml.safe_dump(space.config))
    done = space.assay("doctor", "--json", "--configfile", "run.yaml")
    return {check["name"]: check for check in json.loads(done.stdout)}


def states(found: dict[str, dict[str, str]], *names: str) -> list[str]:
    return [found[name]["state"] for name in names]


def test_the_shipped_profile_fits(space: Cluster) -> None:
    found = examined(space)
    names = ("slurm", "partitions", "time limit", "status of jobs", "preemption", "orphans")
    assert states(found, *names) == ["ok"] * 6, found


def test_a_profile_that_does_not_fit(space: Cluster) -> None:
    space.config["runtime"]["minutes"] = 10**6
    default = {"slurm_partition": "'no-such-partition'", "slurm_account": "''"}
    first = {"slurm-init-seconds-before-status-checks": 10**6}
    found = examined(space, **{"default-resources": default}, **first)
    assert found["partitions"]["state"] == "wrong"
    assert "no-such-partition" in found["partitions"]["detail"]
    assert found["time limit"]["state"] == "wrong"
    assert found["status of jobs"]["state"] in ("warn", "wrong")


def test_accounting_is_told_as_it_is(space: Cluster) -> None:
    works = subprocess.run(["sacct"], capture_output=True, check=False).returncode == 0
    found = examined(space, **{"slurm-efficiency-report": True})["accounting"]
    assert found["state"] == ("ok" if works else "warn")
