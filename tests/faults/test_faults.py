"""The campaign with few strikes; ``python -m faults PAGE`` strikes often and writes the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults import collector, damage, inputs, workflow


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.mark.parametrize("fault", collector.STRIKES)
def test_a_struck_collector_goes_on_where_it_was(base: Path, fault: str) -> None:
    row = collector.campaign(fault, 6 if "kill" in fault else 2, base, seed=1)
    assert row.harmless, row
    # Answers that were under way when the process died are asked again, and no others; where they
    # cannot be written, those that were asked before the first failed.
    assert row.repeated <= (16 if fault == "disk full" else 8)


@pytest.mark.parametrize("regions", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_no_damage_passes_unnoticed(base: Path, regions: int) -> None:
    for name in damage.damaged_files(base):
        row = damage.campaign(name, regions, base, seed=1)
        assert row.differ == 0, row


@pytest.mark.workflow
def test_no_damage_to_what_jobs_read_passes_unnoticed(project: Path, tmp_path: Path) -> None:
    for name, one in inputs.inputs(project, tmp_path).items():
        row = inputs.campaign(name, one, 50, seed=1)
        assert row.met > 100
        assert row.differ == 0, row


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("fault", "times"),
    [
        ("snakemake and its jobs, kill -9", 1),
        *(pytest.param(fault, 4, marks=pytest.mark.slow) for fault in workflow.STRIKES),
    ],
)
def test_a_struck_run_ends_in_the_same_files(
    project: Path, tmp_path: Path, fault: str, times: int
) -> None:
    if fault not in workflow.strikes():
        pytest.skip("disks cannot be mounted here")
    row = workflow.campaign(fault, times, project, tmp_path, seed=1)
    assert row.harmless, row
    assert row.repeated <= 8
