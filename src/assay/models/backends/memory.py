"""Running out of memory: how each allocator says so, and how much has been used."""

from __future__ import annotations

import resource
import sys

import torch

#: What PyTorch's CPU allocator and the C++ runtime say when memory is refused.
_REFUSALS = (
    "can't allocate memory",
    "not enough memory",
    "std::bad_alloc",
    "cannot allocate memory",
    "mps backend out of memory",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether `error` means that memory ran out, on any device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    message = str(error).lower()
    return isinstance(error, RuntimeError) and any(word in message for word in _REFUSALS)


def release(device: torch.device) -> None:
    """Return cached device memory to the system, so that a smaller batch can use it."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def peak_bytes(device: torch.device) -> int:
    """Return the most memory used so far: of the device, or resident for a CPU process."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, else in KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
