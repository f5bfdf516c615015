"""Node daemons that are killed while jobs run (`python -m faults` does it more often)."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults import slurm as strikes

# Slow, and not beside other tests: their jobs would be struck too.
pytestmark = [pytest.mark.slurm, pytest.mark.workflow, pytest.mark.slow]


def test_a_killed_slurmd_costs_no_answer(slurm: None, project: Path, tmp_path: Path) -> None:
    if any("SLURM_CI_OWNER" not in daemon.environment for daemon in strikes.daemons()):
        pytest.skip("the daemons of a cluster that others use are not killed")
    row = strikes.campaign(1, project, tmp_path, seed=1)
    assert row.harmless, row
    assert row.repeated == 0
