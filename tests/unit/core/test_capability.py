"""What a runtime gives is known, and refused by name, before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from assay.core.capability import (
    PROVIDERS,
    Capability,
    CapabilityError,
    capabilities,
    provided_by,
    require,
)
from assay.core.errors import ModelError
from assay.core.registry import Consumer, Registry


@pytest.mark.parametrize("capability", Capability)
def test_every_capability_is_given_by_a_backend(capability: Capability) -> None:
    assert PROVIDERS[capability]
    names = [backend.partition(" ")[0] for backend in PROVIDERS[capability]]
    assert all(capability in provided_by(name) for name in names)


def test_what_is_given_on_a_condition_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROVIDERS, Capability.LOGPROBS, ("server where it proves right",))
    assert Capability.LOGPROBS in provided_by("server")
    assert Capability.LOGPROBS not in provided_by("where")


def test_the_error_names_consumer_model_and_what_would_provide_it() -> None:
    with pytest.raises(CapabilityError) as caught:
        require(set(Capability), set(), consumer="the grid", model="tiny")
    assert caught.value.missing == (Capability.GENERATE, Capability.LOGPROBS)
    message = str(caught.value)
    assert message.startswith("tiny: the grid needs generate, logprobs")
    assert "logprobs is given by hf_local" in message
    assert "an engine of your own with logprobs_fn" in message


def test_names_become_capabilities_and_unknown_ones_are_refused() -> None:
    assert capabilities(["logprobs", Capability.GENERATE]) == set(Capability)
    with pytest.raises(ModelError, match="no runtime gives telepathy"):
        capabilities({"telepathy", "logprobs"})


@dataclass
class Gives:
    capabilities: frozenset[Capability]


def test_the_registry_says_what_fits_a_model() -> None:
    words = Consumer("words", frozenset({Capability.GENERATE}), "asks for words")
    both = Consumer("both", frozenset(Capability), "asks for both")
    registry = Registry([words, both])
    assert list(registry) == ["words", "both"]
    assert len(registry) == 2
    assert registry["both"] is both
    assert registry.compatible_with(Gives(frozenset({Capability.GENERATE}))) == [words]
    assert registry.compatible_with(Gives(frozenset(Capability))) == [words, both]
    assert registry.compatible_with(Gives(frozenset())) == []
