"""The grid as data: formats, orders and stems, and the configurations they span."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from assay.core.identity import digest
from assay.grid.orders import named_orders

LabelKind = Literal["upper", "digit"]
Scoring = Literal["gen", "ll"]

MAX_OPTIONS = 26


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _demand(text: str, *fields: str) -> str:
    """Return `text` if its replacement fields are exactly `fields`, each at least once."""
    found = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    if found != set(fields):
        wanted = ", ".join(f"{{{field}}}" for field in fields)
        raise ValueError(f"must contain {wanted} and no other field; it has {sorted(found)}")
    return text


class GenerationFormat(_Strict):
    """One way to show the options and to ask for a label."""

    labels: LabelKind
    option: str
    prompt: str

    @field_validator("option")
    @classmethod
    def _option_fields(cls, text: str) -> str:
        return _demand(text, "label", "option")

    @field_validator("prompt")
    @classmethod
    def _prompt_fields(cls, text: str) -> str:
        return _demand(text, "question", "options")


class LikelihoodFormat(_Strict):
    """One stem after which every option's text is scored."""

    stem: str
    continuation: str

    @field_validator("stem")
    @classmethod
    def _stem_fields(cls, text: str) -> str:
        return _demand(text, "question")

    @field_validator("continuation")
    @classmethod
    def _continuation_fields(cls, text: str) -> str:
        return _demand(text, "option")


class Generation(_Strict):
    """The generation part of a grid: formats × orders."""

    orders: tuple[str, ...] = Field(min_length=1)
    formats: dict[str, GenerationFormat]


class Likelihood(_Strict):
    """The likelihood part of a grid."""

    formats: dict[str, LikelihoodFormat]


class Orders(_Strict):
    """How order names become permutations."""

    shifts: int = Field(default=4, ge=1)
    seed: int = 1234
    written: dict[int, dict[str, tuple[int, ...]]] = Field(default_factory=dict)

    @field_validator("written")
    @classmethod
    def _are_permutations(
        cls, tables: dict[int, dict[str, tuple[int, ...]]]
    ) -> dict[int, dict[str, tuple[int, ...]]]:
        for options, table in tables.items():
            for name, order in table.items():
                if sorted(order) != list(range(options)):
                    raise ValueError(f"{name} for {options} options is not a permutation: {order}")
        return tables


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to ask: scoring × format × order (no order for likelihood)."""

    scoring: Scoring
    format: str
    order: str | None

    @property
    def key(self) -> str:
        """The name used in records, such as ``gen|letter_plain|p0``."""
        return "|".join(part for part in (self.scoring, self.format, self.order) if part)


class Grid(_Strict):
    """A named, versioned set of configurations with their exact texts."""

    name: str
    version: int
    reference: str
    generation: Generation
    likelihood: Likelihood = Likelihood(formats={})
    orders: Orders = Orders()

    @model_validator(mode="after")
    def _reference_exists(self) -> Grid:
        keys = [configuration.key for configuration in self.configurations()]
        if self.reference not in keys:
            raise ValueError(f"reference {self.reference!r} is not one of {keys}")
        return self

    def configurations(self) -> Iterator[Configuration]:
        """Yield the configurations: generation (format by format), then likelihood."""
        for name in self.generation.formats:
            for order in self.generation.orders:
                yield Configuration("gen", name, order)
        for name in self.likelihood.formats:
            yield Configuration("ll", name, None)

    def permutation(self, order: str, options: int) -> tuple[int, ...] | None:
        """Return ``perm`` with ``shown[p] = options[perm[p]]``, or None if there is none left."""
        written = self.orders.written.get(options)
        if written is not None and order in written:
            return written[order]
        names = self.generation.orders
        orders = named_orders(options, names, self.orders.shifts, self.orders.seed)
        return orders[names.index(order)]

    def identity(self) -> dict[str, Any]:
        """Return what decides the prompts: a digest of the texts behind each configuration.

        Adding a format leaves the digests of the others as they are.
        """
        orders = self.orders.model_dump(mode="json")
        formats = {
            **{f"gen|{name}": value for name, value in self.generation.formats.items()},
            **{f"ll|{name}": value for name, value in self.likelihood.formats.items()},
        }
        return {
            "configurations": [configuration.key for configuration in self.configurations()],
            "templates": {
                key: digest(value.model_dump(mode="json"), length=12)
                for key, value in formats.items()
            },
            "orders": digest(orders, length=12),
            "reference": self.reference,
        }

    def legend(self) -> dict[str, dict[str, Any]]:
        """Return key → scoring, format, order and the permutation of four options."""
        return {
            configuration.key: {
                "scoring": configuration.scoring,
                "format": configuration.format,
                "order": configuration.order,
                "permutation": configuration.order and self.permutation(configuration.order, 4),
            }
            for configuration in self.configurations()
        }


def labels_for(kind: LabelKind, options: int) -> tuple[str, ...]:
    """Return the labels of `options` shown options, as in A, B, C or 1, 2, 3.

    Raises
    ------
    ValueError
        If there are more options than letters.
    """
    if not 2 <= options <= MAX_OPTIONS:
        raise ValueError(f"{options} options; between 2 and {MAX_OPTIONS} can be labelled")
    if kind == "upper":
        return tuple(string.ascii_uppercase[:options])
    return tuple(str(number) for number in range(1, options + 1))
