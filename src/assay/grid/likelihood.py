"""From option log-probabilities to a choice, a margin and an honest account of ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.core.identity import digest
from assay.records.schema import Scores, Status

#: The score that decides: a field of `Scores`.
Rule = Literal["token", "sum", "pmi"]


@dataclass(frozen=True, slots=True)
class Choice:
    """The option that a likelihood configuration chooses.

    Attributes
    ----------
    margin : float or None
        Best minus second-best deciding score (nats; nats per token under "token"); 0 for a tie.
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
    *,
    rule: Rule = "token",
    unconditional: Sequence[Sequence[float]] = (),
    scored: Sequence[str] | None = None,
) -> Choice:
    """Choose the option with the greatest score.

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
    rule : {"token", "sum", "pmi"}
        The mean log-probability per token, their sum, or the sum minus that of `unconditional`.
    unconditional : sequence of sequence of float
        As `logprobs`, after a stem without the question; for "pmi" only.
    scored : sequence of str, optional
        What stands for each option in the scores; its text if left out.

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
    scores = _normalise(scored or options, logprobs, unconditional)
    values: tuple[float | None, ...] = getattr(scores, rule)
    if any(value is None for value in values):
        return Choice("empty_option", scores)
    known = [value for value in values if value is not None]
    if not all(math.isfinite(value) for value in known):
        return Choice("nonfinite", _finite_only(scores))
    best = max(known)
    tied = tuple(index for index, value in enumerate(known) if value == best)
    ranked = sorted(known, reverse=True)
    return Choice(
        status="ok",
        scores=scores,
        option=min(tied, key=lambda index: digest([item_id, index, options[index]])),
        margin=ranked[0] - ranked[1],
        tied=tied,
        credit=sum(index in accepts for index in tied) / len(tied),
    )


def _normalise(
    scored: Sequence[str],
    logprobs: Sequence[Sequence[float]],
    unconditional: Sequence[Sequence[float]],
) -> Scores:
    def over(total: float | None, size: int) -> float | None:
        return None if total is None or size == 0 else total / size

    sums, without = _sums(logprobs), _sums(unconditional)
    tokens = [over(total, len(values)) for total, values in zip(sums, logprobs, strict=True)]
    sizes = [len(text.encode("utf-8", "surrogatepass")) for text in scored]
    pairs = zip(sums, without, strict=True) if without else ()
    return Scores(
        sum=sums,
        token=tuple(tokens),
        byte=tuple(over(total, size) for total, size in zip(sums, sizes, strict=True)),
        pmi=tuple(None if a is None or b is None else a - b for a, b in pairs),
    )


def _sums(logprobs: Sequence[Sequence[float]]) -> tuple[float | None, ...]:
    return tuple(math.fsum(values) if values else None for values in logprobs)


def _finite_only(scores: Scores) -> Scores:
    """Replace NaN and infinities, which JSON has no word for, by None."""

    def clean(values: tuple[float | None, ...]) -> tuple[float | None, ...]:
        return tuple(v if v is not None and math.isfinite(v) else None for v in values)

    return Scores(
        sum=clean(scores.sum),
        token=clean(scores.token),
        byte=clean(scores.byte),
        pmi=clean(scores.pmi),
    )
