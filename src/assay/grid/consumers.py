"""What the grid asks of a model, and the capabilities it needs for it."""

from __future__ import annotations

from assay.core.capability import Capability
from assay.core.registry import Consumer, Registry
from assay.grid.configuration import Grid, Scoring

_BY_SCORING: dict[Scoring, Consumer] = {
    "gen": Consumer(
        "generation",
        frozenset({Capability.GENERATE}),
        "the grid's labelled questions, answered in words",
    ),
    "ll": Consumer(
        "likelihood",
        frozenset({Capability.LOGPROBS}),
        "the grid's stems, every option's text scored",
    ),
}

#: Everything that can be asked of a model in this version.
registry = Registry(_BY_SCORING.values())


def needed(grid: Grid) -> frozenset[Capability]:
    """Return the capabilities that `grid` needs of a model.

    Examples
    --------
    >>> sorted(registry["likelihood"].requires)
    [<Capability.LOGPROBS: 'logprobs'>]
    """
    scorings = {configuration.scoring for configuration in grid.configurations()}
    return frozenset().union(*(_BY_SCORING[scoring].requires for scoring in scorings))
