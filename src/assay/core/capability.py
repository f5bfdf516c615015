"""What a runtime can give, negotiated before any weight is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from assay.core.errors import ModelError


class Capability(StrEnum):
    """An ability that at least one runtime provides and a consumer may require."""

    GENERATE = "generate"
    LOGPROBS = "logprobs"


#: The runtimes that provide each capability; after its name one may say on what condition.
PROVIDERS: dict[Capability, tuple[str, ...]] = {
    Capability.GENERATE: ("hf_local", "vllm_offline", "api"),
    Capability.LOGPROBS: (
        "hf_local",
        "vllm_offline",
        "api where the server's echo proves right",
    ),
}


#: What a user's own engine provides each capability with (`assay.models.runtime`).
ENGINE_FUNCTIONS: dict[Capability, str] = {
    Capability.GENERATE: "generate_fn or chat_fn",
    Capability.LOGPROBS: "logprobs_fn",
}


def provided_by(backend: str) -> frozenset[Capability]:
    """Return what a backend can give, known without loading it.

    What it gives on a condition is counted: whether that holds only a loaded model can tell.
    """
    return frozenset(
        what
        for what, backends in PROVIDERS.items()
        if any(name.partition(" ")[0] == backend for name in backends)
    )


def capabilities(names: Iterable[Capability | str]) -> frozenset[Capability]:
    """Return `names` as capabilities.

    Raises
    ------
    ModelError
        If one is not a capability of this version.

    Examples
    --------
    >>> sorted(capabilities(["logprobs"]))
    [<Capability.LOGPROBS: 'logprobs'>]
    """
    known = {str(capability) for capability in Capability}
    if unknown := sorted({str(name) for name in names} - known):
        raise ModelError(
            f"no runtime gives {', '.join(unknown)}.", fix=f"ask for {', '.join(sorted(known))}."
        )
    return frozenset(map(Capability, names))


class CapabilityError(ModelError):
    """A consumer needs what the model's runtime cannot give.

    Parameters
    ----------
    consumer : str
        What needs it, such as "load" or "the grid".
    model : str
        The model's key.
    missing : iterable of Capability
        What is lacking; the message names what would provide each.
    """

    def __init__(
        self, consumer: str, model: str, missing: Iterable[Capability], *, because: str = ""
    ):
        self.missing = tuple(sorted(missing))
        names = ", ".join(self.missing)
        providers = "; ".join(map(_providers, self.missing))
        super().__init__(
            f"{consumer} needs {names}, which this runtime lacks{because and f': {because}'}.",
            where=model,
            fix=f"{providers}.",
        )


def _providers(capability: Capability) -> str:
    engine = f"an engine of your own with {ENGINE_FUNCTIONS[capability]}"
    return f"{capability} is given by {', '.join((*PROVIDERS[capability], engine))}"


def require(
    needed: Iterable[Capability], provided: Iterable[Capability], *, consumer: str, model: str
) -> None:
    """Raise `CapabilityError` naming every capability in `needed` but not in `provided`."""
    missing = set(needed) - set(provided)
    if missing:
        raise CapabilityError(consumer, model, missing)
