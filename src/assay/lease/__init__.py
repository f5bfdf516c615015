"""GPUs of one machine, held by one process each."""

from assay.lease.devices import Device, visible_devices
from assay.lease.hold import hold_gpus
from assay.lease.lock import Lease

__all__ = ["Device", "Lease", "hold_gpus", "visible_devices"]
