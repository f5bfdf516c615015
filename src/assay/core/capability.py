"""What a runtime can give, negotiated before any weight is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from assay.core.errors import ModelError


class Capability(StrEnum):
    """An ability that at least one runtime provides and a consumer may require."""

    GENERATE = "generate"
    LOGPROBS = "logprobs"


#: The runtimes that provide each capability, for error messages.
PROVIDERS: dict[Capability, tuple[str, ...]] = {
    Capability.GENERATE: ("hf_local", "vllm_offline", "api"),
    Capability.LOGPROBS: (
        "hf_local",
        "vllm_offline",
        "api where the server's echo proves right",
    ),
}


class CapabilityError(ModelError):
    """A consumer needs what the model's runtime cannot give."""

    def __init__(
        self, consumer: str, model: str, missing: Iterable[Capability], *, because: str = ""
    ):
        self.missing = tuple(sorted(missing))
        names = ", ".join(self.missing)
        providers = "; ".join(f"{c} is given by {', '.join(PROVIDERS[c])}" for c in self.missing)
        super().__init__(
            f"{consumer} needs {names}, which this runtime lacks{because and f': {because}'}.",
            where=model,
            fix=f"{providers}.",
        )


def require(
    needed: Iterable[Capability], provided: Iterable[Capability], *, consumer: str, model: str
) -> None:
    """Raise `CapabilityError` naming every capability in `needed` but not in `provided`."""
    missing = set(needed) - set(provided)
    if missing:
        raise CapabilityError(consumer, model, missing)
