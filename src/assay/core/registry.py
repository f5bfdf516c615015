"""What can be asked of a model, by name, with the capabilities that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from assay.core.capability import Capability


class HasCapabilities(Protocol):
    """Anything that says what it can give: a loaded model or a runtime."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can give."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """One thing that can be asked of a model.

    Attributes
    ----------
    name : str
        As in error messages.
    requires : frozenset of Capability
        What the model must give.
    summary : str
        One line for people.
    """

    name: str
    requires: frozenset[Capability]
    summary: str


class Registry(Mapping[str, Consumer]):
    """Consumers by name, in the order they were written down."""

    def __init__(self, consumers: Iterable[Consumer]):
        self._consumers = {consumer.name: consumer for consumer in consumers}

    def __getitem__(self, name: str) -> Consumer:
        return self._consumers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._consumers)

    def __len__(self) -> int:
        return len(self._consumers)

    def __repr__(self) -> str:
        return f"Registry({', '.join(self)})"

    def compatible_with(self, model: HasCapabilities) -> list[Consumer]:
        """Return the consumers whose needs `model` meets."""
        return [one for one in self.values() if one.requires <= model.capabilities]
