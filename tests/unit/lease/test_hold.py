from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.core.errors import ModelError
from assay.grid.job import load_backend
from assay.lease import Device, Lease, hold, hold_gpus, visible_devices
from assay.lease.devices import installed_devices

Driver = Callable[[int], None]
THREE = tuple(Device(f"GPU-{letter * 4}", str(k)) for k, letter in enumerate("abc"))


@pytest.fixture(autouse=True)
def _nothing_held() -> Iterator[None]:
    yield
    while hold._held:
        hold._held.pop().release()


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, ["0", "1", "2"]),
        ("2,0", ["2", "0"]),
        ("GPU-b,2", ["GPU-b", "2"]),
        ("0, 7, 1", ["0"]),  # as CUDA: the list ends at what is not there
        ("GPU-", []),  # names three
        ("-1", []),
        ("", []),
        ("MIG-77", ["MIG-77"]),
    ],
)
def test_visible_devices(value: str | None, names: list[str]) -> None:
    environment = {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
    assert [device.name for device in visible_devices(environment, THREE)] == names


def test_the_drivers_list(driver: Driver) -> None:
    driver(2)
    assert [device.name for device in installed_devices()] == ["0", "1"]
    assert installed_devices()[1].uuid == "GPU-00000001-aaaa-bbbb-cccc-dddddddddddd"


def test_a_broken_driver_is_named(driver: Driver, tmp_path: Path) -> None:
    driver(1)
    (tmp_path / "driver" / "nvidia-smi").write_text(
        "#!/bin/sh\necho 'NVIDIA-SMI has failed: no communication with the driver.'\nexit 9\n"
    )
    with pytest.raises(ModelError, match="no communication with the driver"):
        hold_gpus("cuda", 1)


def test_no_driver_means_no_devices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed_devices() == ()
    assert hold_gpus("cuda", 1) == ()


@pytest.mark.parametrize("device", ["cpu", "mps"])
def test_other_devices_need_no_lease(driver: Driver, device: str) -> None:
    driver(1)
    assert hold_gpus(device, 1) == ()
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_cuda_sees_what_is_held_and_nothing_else(driver: Driver, device: str) -> None:
    driver(4)
    assert [taken.name for taken in hold_gpus(device, 2)] == ["0", "1"]
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


def test_a_model_that_asks_for_none_still_holds_the_one_it_runs_on(driver: Driver) -> None:
    driver(2)
    assert len(hold_gpus("auto", 0)) == 1


def test_a_schedulers_assignment_is_obeyed(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    driver(2)
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert hold_gpus("cuda", 1) == ()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "1"


def test_the_next_model_of_a_process_uses_what_it_holds(driver: Driver) -> None:
    driver(3)
    first = hold_gpus("cuda", 2)
    assert hold_gpus("cuda", 1) == first
    with pytest.raises(ModelError, match=r"holds 2 GPU\(s\) and its next model needs 3"):
        hold_gpus("cuda", 3)


def test_too_few_devices_are_an_error_and_not_a_wait(driver: Driver) -> None:
    driver(1)
    with pytest.raises(ModelError, match=r"2 GPU\(s\) are needed and 1 can be used here"):
        hold_gpus("cuda", 2)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "gate").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match=r"gate: the GPU lock cannot be opened.*ASSAY_LEASES"):
        Lease(THREE, 1, folder=tmp_path).__enter__()
    assert not (tmp_path / "elsewhere").exists()


def test_a_lease_ends_with_its_block(tmp_path: Path) -> None:
    with Lease(THREE[:1], 1, folder=tmp_path) as first:
        assert [device.name for device in first.devices] == ["0"]
    with Lease(THREE[:1], 1, folder=tmp_path) as second:
        assert second.devices
    assert second.devices == ()


def test_the_lock_files_are_for_every_user(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with Lease(THREE[:1], 1, folder=tmp_path / "leases"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "leases").stat().st_mode & 0o7777 == 0o1777
    assert (tmp_path / "leases" / "GPU-aaaa.lock").stat().st_mode & 0o777 == 0o666


def test_the_collector_holds_its_gpus_before_it_loads(driver: Driver, tmp_path: Path) -> None:
    """The folder holds no model, so that loading fails, with a GPU as without."""
    driver(3)
    model = {
        "key": "big",
        "family": "f",
        "licence": "l",
        "source": {"kind": "path", "path": "p"},
        "gpus": 2,
    }
    plan = {"model": model, "identity": {"model": {"dtype": "float32"}, "backend": "hf_local"}}
    with pytest.raises(ModelError):
        load_backend(json.dumps(plan), tmp_path, out=tmp_path, device="cuda", threads=1, gpus=2)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"
