"""The grid as data: formats and orders, and the configurations they span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from assay.core.identity import canonical_json, digest
from assay.grid.formats import (
    GenerationFormat,
    LabelKind,
    LikelihoodFormat,
    OptionsFormat,
    ShownFormat,
    Strict,
)
from assay.grid.orders import Orders

Scoring = Literal["gen", "ll"]
#: What a configuration is for, where it is not one more way to ask.
Role = Literal["again", "choices_only"]


class Generation(Strict):
    """The generation part of a grid: formats × orders.

    Attributes
    ----------
    matched : tuple of str
        Formats whose prompts are meant to be of one length in tokens.
    least_new_tokens : int
        A run that lets the model write less is refused: option texts need more than a label.
    """

    orders: tuple[str, ...] = Field(min_length=1)
    formats: dict[str, GenerationFormat]
    matched: tuple[str, ...] = ()
    least_new_tokens: int = Field(default=1, ge=1)

    @field_validator("matched")
    @classmethod
    def _at_least_two(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(names) == 1 or len(set(names)) < len(names):
            raise ValueError("name at least two different formats, or none")
        return names


class Likelihood(Strict):
    """The likelihood part of a grid: stems without options, and formats that show them."""

    formats: dict[str, LikelihoodFormat] = Field(default_factory=dict)
    shown: dict[str, ShownFormat] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to ask: scoring × format × order (no order where no options are shown).

    `again` marks the second asking of the reference configuration.
    """

    scoring: Scoring
    format: str
    order: str | None
    again: bool = False

    @property
    def key(self) -> str:
        """The name used in records, such as ``gen|letter_plain|p0``."""
        again = "again" if self.again else None
        return "|".join(part for part in (self.scoring, self.format, self.order, again) if part)


class Grid(Strict):
    """A named, versioned set of configurations with their exact texts.

    `replicate` asks the reference configuration a second time, in other batches.
    """

    name: str
    version: int
    reference: str
    generation: Generation
    likelihood: Likelihood = Likelihood()
    orders: Orders = Orders()
    replicate: bool = False

    @model_validator(mode="after")
    def _is_consistent(self) -> Grid:
        named = Counter(
            [*self.generation.formats, *self.likelihood.formats, *self.likelihood.shown]
        )
        if repeated := [name for name, count in named.items() if count > 1]:
            raise ValueError(f"two formats are called {repeated[0]!r}")
        if strange := sorted(set(self.generation.matched) - set(self.generation.formats)):
            raise ValueError(f"matched names {strange[0]!r}, which is no generation format")
        keys = [c.key for c in self._ways() if self.role(c) is None]
        if self.reference not in keys:
            raise ValueError(f"reference {self.reference!r} is not one of {keys}")
        self.orders.check_balance(self.generation.orders)
        return self

    def configurations(self) -> Iterator[Configuration]:
        """Yield the configurations: generation, likelihood (format by format), the replicate."""
        yield from self._ways()
        if self.replicate:
            (asked,) = (c for c in self._ways() if c.key == self.reference)
            yield Configuration(asked.scoring, asked.format, asked.order, again=True)

    def _ways(self) -> Iterator[Configuration]:
        for name, template in self.generation.formats.items():
            for order in self._orders(template):
                yield Configuration("gen", name, order)
        for name, shown in self.likelihood.shown.items():
            for order in self._orders(shown):
                yield Configuration("ll", name, order)
        for name in self.likelihood.formats:
            yield Configuration("ll", name, None)

    def _orders(self, template: OptionsFormat) -> tuple[str, ...]:
        return self.generation.orders[:1] if template.choices_only else self.generation.orders

    def template(self, configuration: Configuration) -> OptionsFormat | LikelihoodFormat:
        """Return the texts of `configuration`."""
        if configuration.scoring == "gen":
            return self.generation.formats[configuration.format]
        shown = self.likelihood.shown.get(configuration.format)
        return shown or self.likelihood.formats[configuration.format]

    def role(self, configuration: Configuration) -> Role | None:
        """Return what `configuration` is for, or None for one more way to ask."""
        if configuration.again:
            return "again"
        template = self.template(configuration)
        if isinstance(template, OptionsFormat) and template.choices_only:
            return "choices_only"
        return None

    @property
    def fewshot(self) -> int:
        """The most examples that a format shows."""
        return max((self.template(c).fewshot for c in self._ways()), default=0)

    def permutation(self, order: str, options: int) -> tuple[int, ...] | None:
        """Return ``perm`` with ``shown[p] = options[perm[p]]``, or None if there is none left."""
        return self.orders.permutation(order, self.generation.orders, options)

    @property
    def labels(self) -> dict[str, LabelKind]:
        """Format that shows the options → kind of labels."""
        formats: dict[str, OptionsFormat] = {**self.generation.formats, **self.likelihood.shown}
        return {name: template.labels for name, template in formats.items()}

    @cached_property
    def text(self) -> str:
        """Every setting as canonical JSON; made once, as each of thousands of jobs is given it."""
        return canonical_json(self.model_dump(mode="json"))

    @cached_property
    def identity_text(self) -> str:
        """The canonical JSON of `identity`."""
        return canonical_json(self.identity())

    def identity(self) -> dict[str, Any]:
        """Return what decides the prompts: a digest of the texts behind each configuration.

        Adding a format leaves the digests of the others as they are, and so does a new setting
        that nothing uses.
        """
        orders = self.orders.model_dump(mode="json", exclude_none=True)
        formats: dict[str, Strict] = {
            **{f"gen|{name}": value for name, value in self.generation.formats.items()},
            **{f"ll|{name}": value for name, value in self.likelihood.formats.items()},
            **{f"ll|{name}": value for name, value in self.likelihood.shown.items()},
        }
        return {
            "configurations": [configuration.key for configuration in self.configurations()],
            "templates": {
                key: digest(value.model_dump(mode="json", exclude_defaults=True), length=12)
                for key, value in formats.items()
            },
            "orders": digest(orders, length=12),
            "reference": self.reference,
        }

    def legend(self) -> dict[str, dict[str, Any]]:
        """Return key → scoring, format, order and the permutation of four options.

        Where they apply: ``role``, what of a shown option is ``scored``, and whether the format
        is declared to be ``matched`` in length.
        """
        return {
            configuration.key: {
                "scoring": configuration.scoring,
                "format": configuration.format,
                "order": configuration.order,
                "permutation": configuration.order and self.permutation(configuration.order, 4),
            }
            | self._remarks(configuration)
            for configuration in self.configurations()
        }

    def _remarks(self, configuration: Configuration) -> dict[str, Any]:
        shown = self.likelihood.shown.get(configuration.format)
        remarks = {
            "role": self.role(configuration),
            "scored": shown.asked if shown else None,
            "matched": configuration.format in self.generation.matched or None,
        }
        return {name: value for name, value in remarks.items() if value is not None}
