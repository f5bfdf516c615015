"""Two shards of the same questions: where they say the same, and by how much they differ.

The same model asked through two runtimes gives the same answers up to arithmetic. Scores may then
differ by a bound, and a choice may flip only where its margin is within twice that bound; every
other difference is one of the runtimes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.core.errors import RecordError
from assay.records.schema import Observation
from assay.records.shard import Shard


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One observation on which two shards differ.

    Attributes
    ----------
    name : str
        Item id and configuration key.
    margin : float or None
        The larger of the two margins of the choice (nats a token); None for a generation, whose
        margin no runtime records.
    first, second : str
        What either says.
    """

    name: str
    margin: float | None
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two shards have in common.

    Attributes
    ----------
    observations : int
        Observations compared.
    largest : float
        Largest difference of an option's mean log-probability per token (nats).
    bound : float
        What that difference may be.
    disagreements : tuple of Disagreement
        Those without a margin first, then by falling margin.
    """

    observations: int
    largest: float
    bound: float
    disagreements: tuple[Disagreement, ...]

    @property
    def unexplained(self) -> tuple[Disagreement, ...]:
        """Disagreements that arithmetic within the bound cannot make."""
        return tuple(d for d in self.disagreements if d.margin is None or d.margin > 2 * self.bound)

    @property
    def equal(self) -> bool:
        """Whether the shards are equal within the bound."""
        return self.largest <= self.bound and not self.unexplained


def compare_shards(first: Shard, second: Shard, *, bound: float = 1e-3) -> Comparison:
    """Compare two shards observation by observation.

    Parameters
    ----------
    bound : float
        Nats by which a mean log-probability per token may differ.

    Raises
    ------
    RecordError
        If they are not of the same items and configurations: nothing could be compared.
    """
    _require_same_questions(first, second)
    observations, largest = 0, 0.0
    found: list[Disagreement] = []
    for name, ours, theirs in _pairs(first, second):
        observations += 1
        largest = max(largest, _apart(ours, theirs))
        if _said(ours) != _said(theirs):
            margins = [o.margin for o in (ours, theirs) if o.margin is not None]
            margin = max(margins) if len(margins) == 2 else None
            found.append(Disagreement(name, margin, _words(ours), _words(theirs)))
    found.sort(key=lambda d: (d.margin is not None, -(d.margin or 0.0), d.name))
    return Comparison(observations, largest, bound, tuple(found))


def _require_same_questions(first: Shard, second: Shard) -> None:
    for field in ("benchmark", "snapshot_sha256", "configurations"):
        if getattr(first.manifest, field) != getattr(second.manifest, field):
            raise RecordError(
                f"the {field} is not that of {first.folder}.",
                where=second.folder,
                fix="compare shards that were asked the same items under the same grid.",
            )


def _pairs(first: Shard, second: Shard) -> Iterator[tuple[str, Observation, Observation]]:
    for one, two in zip(first.records(), second.records(), strict=True):
        for key, ours in one.observations.items():
            yield f"{one.item_id} {key}", ours, two.observations[key]


def _apart(ours: Observation, theirs: Observation) -> float:
    if ours.scores is None or theirs.scores is None:
        return 0.0
    pairs = zip(ours.scores.token, theirs.scores.token, strict=True)
    return max((abs(x - y) for x, y in pairs if x is not None and y is not None), default=0.0)


def _said(observation: Observation) -> tuple[object, ...]:
    """Return what must be the same: never the numbers, whose bound is its own question."""
    o = observation
    return o.status, o.choice, o.prompt_sha256, o.prompt_tokens, o.text, o.finish


def _words(observation: Observation) -> str:
    said = "" if observation.text is None else f" {observation.text!r}"
    choice = "" if observation.choice is None else f" option {observation.choice}"
    return f"{observation.status}{choice}{said}"
