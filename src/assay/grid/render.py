"""From an item and a configuration to the exact text that is sent."""

from __future__ import annotations

from dataclasses import dataclass

from assay.benchmarks.item import Item
from assay.grid.configuration import Configuration, Grid, labels_for


@dataclass(frozen=True, slots=True)
class LabelQuestion:
    """A generation prompt (one user turn, before any chat template).

    Attributes
    ----------
    shared : str
        The text before the options: prompts of one item that agree in it share a token prefix.
    order : tuple of int
        ``shown[p] = options[order[p]]``.
    labels : tuple of str
        The label of each shown position.
    """

    text: str
    shared: str
    order: tuple[int, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClozeQuestion:
    """A stem and one continuation per option, in source order."""

    stem: str
    continuations: tuple[str, ...]


def pose(
    item: Item, configuration: Configuration, grid: Grid
) -> LabelQuestion | ClozeQuestion | None:
    """Return what `configuration` asks about `item`, or None where it is not applicable.

    Not applicable are orders beyond n! and, for a locked item (its options name labels or
    positions), every order but the one it was written in.
    """
    if configuration.scoring == "ll":
        return _cloze(item, configuration, grid)
    if configuration.order is None:
        raise ValueError(f"{configuration.key}: a generation configuration needs an order")
    order = grid.permutation(configuration.order, len(item.options))
    if order is None or (item.locked and order != tuple(range(len(item.options)))):
        return None
    return _labelled(item, configuration.format, order, grid)


def _cloze(item: Item, configuration: Configuration, grid: Grid) -> ClozeQuestion:
    template = grid.likelihood.formats[configuration.format]
    return ClozeQuestion(
        stem=template.stem.format(question=item.question),
        continuations=tuple(template.continuation.format(option=o) for o in item.options),
    )


def _labelled(item: Item, name: str, order: tuple[int, ...], grid: Grid) -> LabelQuestion:
    template = grid.generation.formats[name]
    labels = labels_for(template.labels, len(item.options))
    lines = (
        template.option.format(label=label, option=item.options[index])
        for label, index in zip(labels, order, strict=True)
    )
    text = template.prompt.format(question=item.question, options="\n".join(lines))
    before = template.prompt.partition("{options}")[0]
    return LabelQuestion(text, before.format(question=item.question), order, labels)
