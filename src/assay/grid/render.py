"""From an item and a configuration to the exact text that is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.benchmarks.item import Item
from assay.grid.configuration import Configuration, Grid
from assay.grid.formats import (
    Answer,
    LikelihoodFormat,
    OptionsFormat,
    ShownFormat,
    labels_for,
)
from assay.grid.likelihood import Rule

#: What stands between two examples, and between the last one and the question.
BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class LabelQuestion:
    """A prompt that shows the options (one user turn, before any chat template).

    Attributes
    ----------
    shared : str
        The text before the options: prompts of one item that agree in it share a token prefix.
    order : tuple of int
        ``shown[p] = options[order[p]]``.
    labels : tuple of str
        The label of each shown position.
    system : str, optional
        The system turn before it; None leaves the template's own.
    """

    text: str
    shared: str
    order: tuple[int, ...]
    labels: tuple[str, ...]
    system: str | None = None


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A prompt that shows the options, and one answer per option, in source order, to score."""

    asked: LabelQuestion
    score: Answer
    continuations: tuple[str, ...]

    @property
    def rule(self) -> Rule:
        """A label's probability is that of the whole label; words are compared per token."""
        return "sum" if self.score == "label" else "token"


@dataclass(frozen=True, slots=True)
class ClozeQuestion:
    """A stem and one continuation per option, in source order.

    `unconditional` is a stem without the question, after which they are scored too.
    """

    stem: str
    continuations: tuple[str, ...]
    unconditional: str | None = None

    @property
    def rule(self) -> Rule:
        """How the option is chosen."""
        return "token" if self.unconditional is None else "pmi"


Posed = LabelQuestion | ShownQuestion | ClozeQuestion


def pose(
    item: Item, configuration: Configuration, grid: Grid, pool: Sequence[Item] = ()
) -> Posed | None:
    """Return what `configuration` asks about `item`, or None where it is not applicable.

    Not applicable are orders beyond n! and, for a locked item (its options name labels or
    positions), every order but the one it was written in.

    Parameters
    ----------
    pool : sequence of Item
        The snapshot's few-shot pool; a format shows the first ones of it.
    """
    template = grid.template(configuration)
    if isinstance(template, LikelihoodFormat):
        return _cloze(item, template, pool)
    if configuration.order is None:
        raise ValueError(f"{configuration.key}: a configuration that shows options needs an order")
    order = grid.permutation(configuration.order, len(item.options))
    if order is None or (item.locked and order != tuple(range(len(item.options)))):
        return None
    asked = _labelled(item, template, order, pool)
    if not isinstance(template, ShownFormat):
        return asked
    answers = (_answer(item, index, template.asked, asked) for index in range(len(item.options)))
    return ShownQuestion(asked, template.asked, tuple(answers))


def _cloze(item: Item, template: LikelihoodFormat, pool: Sequence[Item]) -> ClozeQuestion:
    examples = (
        template.stem.format(question=one.question)
        + template.continuation.format(option=one.options[one.gold])
        + BETWEEN
        for one in pool[: template.fewshot]
    )
    return ClozeQuestion(
        stem="".join(examples) + template.stem.format(question=item.question),
        continuations=tuple(template.continuation.format(option=o) for o in item.options),
        unconditional=template.unconditional,
    )


def _labelled(
    item: Item, template: OptionsFormat, order: tuple[int, ...], pool: Sequence[Item]
) -> LabelQuestion:
    examples = "".join(_example(one, template) for one in pool[: template.fewshot])
    asked = _turn(item, template, order)
    return LabelQuestion(
        text=examples + asked.text,
        shared=examples + asked.shared,
        order=order,
        labels=asked.labels,
        system=template.system,
    )


def _turn(item: Item, template: OptionsFormat, order: tuple[int, ...]) -> LabelQuestion:
    labels = labels_for(template.labels, len(item.options))
    lines = (
        template.option.format(label=label, option=item.options[index])
        for label, index in zip(labels, order, strict=True)
    )
    text = template.prompt.format(question=item.question, options="\n".join(lines))
    before = template.prompt.partition("{options}")[0]
    return LabelQuestion(text, before.format(question=item.question), order, labels)


def _example(one: Item, template: OptionsFormat) -> str:
    """Return a solved question, its options in source order, as the format would ask it."""
    asked = _turn(one, template, tuple(range(len(one.options))))
    return f"{asked.text} {_answer(one, one.gold, template.asked, asked)}{BETWEEN}"


def _answer(item: Item, index: int, kind: Answer, asked: LabelQuestion) -> str:
    """Return what names option `index`: its label as shown, or its words."""
    return asked.labels[asked.order.index(index)] if kind == "label" else item.options[index]
