"""From option log-probabilities to a choice, a margin and an honest account of ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.identity import digest
from assay.records.schema import Scores, Status


@dataclass(frozen=True, slots=True)
class Choice:
    """The option that a likelihood configuration chooses.

    Attributes
    ----------
    margin : float or None
        Best minus second-best mean log-probability per token (nats); 0 for a tie.
    tied : tuple of int
        Options that share the best score exactly; one entry where there is no tie.
    credit : float
        Probability that a fair coin among the tied options names an accepted one.
    """

    status: Status
    scores: Scores
    option: int | None = None
    margin: float | None = None
    tied: tuple[int, ...] = ()
    credit: float = 0.0


def choose(
    item_id: str,
    options: Sequence[str],
    accepts: Sequence[int],
    logprobs: Sequence[Sequence[float]],
) -> Choice:
    """Choose the option with the greatest mean log-probability per token.

    Parameters
    ----------
    item_id : str
        Seeds the coin that breaks exact ties, together with the option texts.
    options : sequence of str
        Option texts in source order.
    accepts : sequence of int
        Indices that count as right.
    logprobs : sequence of sequence of float
        For each option the natural-log probability of each of its tokens.

    Returns
    -------
    Choice
        Status "empty_option" if an option has no tokens and "nonfinite" if a score is not a
        number: neither ever wins, and the observation counts as wrong.

    Examples
    --------
    >>> choose("x", ["a", "b"], [1], [[-2.0], [-1.0, -0.5]]).option
    1
    """
    sums = [math.fsum(values) if values else None for values in logprobs]
    scores = _normalise(options, logprobs, sums)
    if any(total is None for total in sums):
        return Choice("empty_option", scores)
    if not all(math.isfinite(total) for total in sums if total is not None):
        return Choice("nonfinite", _finite_only(scores))
    means = [value for value in scores.token if value is not None]
    best = max(means)
    tied = tuple(index for index, value in enumerate(means) if value == best)
    ranked = sorted(means, reverse=True)
    return Choice(
        status="ok",
        scores=scores,
        option=min(tied, key=lambda index: digest([item_id, index, options[index]])),
        margin=ranked[0] - ranked[1],
        tied=tied,
        credit=sum(index in accepts for index in tied) / len(tied),
    )


def _normalise(
    options: Sequence[str], logprobs: Sequence[Sequence[float]], sums: Sequence[float | None]
) -> Scores:
    def over(total: float | None, size: int) -> float | None:
        return None if total is None or size == 0 else total / size

    tokens = [over(total, len(values)) for total, values in zip(sums, logprobs, strict=True)]
    sizes = [len(option.encode("utf-8", "surrogatepass")) for option in options]
    return Scores(
        sum=tuple(sums),
        token=tuple(tokens),
        byte=tuple(over(total, size) for total, size in zip(sums, sizes, strict=True)),
    )


def _finite_only(scores: Scores) -> Scores:
    """Replace NaN and infinities, which JSON has no word for, by None."""

    def clean(values: tuple[float | None, ...]) -> tuple[float | None, ...]:
        return tuple(v if v is not None and math.isfinite(v) else None for v in values)

    return Scores(sum=clean(scores.sum), token=clean(scores.token), byte=clean(scores.byte))
