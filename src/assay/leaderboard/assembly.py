"""What readers of foreign files share: keys, statuses, and the refusal of gaps."""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.grid.configuration import Configuration, Scoring
from assay.leaderboard.correctness import (
    ABSENT,
    MISSING,
    NOT_APPLICABLE,
    Correctness,
    Item,
)
from assay.leaderboard.load import missing
from assay.records.schema import STATUSES

#: How an observation that the file does not hold is listed.
_NO_ANSWER = "backend_error"
_SHOWN = 5


def configuration_of(key: str) -> Configuration:
    """Return the configuration that a key names.

    ``gen|format|order``, ``ll|format`` and ``ll|format|order`` are taken apart, each with
    ``|again`` at its end where it was asked a second time; any other text is the name of a
    generation format, asked in one order.

    Examples
    --------
    >>> configuration_of("gen|letter_plain|p0").order, configuration_of("my prompt").key
    ('p0', 'gen|my prompt')
    >>> configuration_of("ll|letter_scored|p1").scoring
    'll'
    """
    scoring, *rest = key.split("|")
    again = len(rest) > 1 and rest[-1] == "again"
    named = rest[:-1] if again else rest
    if scoring in get_args(Scoring) and len(named) in (1, 2):
        name, order = (*named, None)[:2]
        return Configuration(cast(Scoring, scoring), str(name), order, again)
    return Configuration("gen", key, None)


def statuses_of(values: NDArray[np.uint8], items: tuple[Item, ...]) -> NDArray[np.uint8]:
    """Return the statuses that follow from values alone, shape (model, item, configuration).

    A model without any observation of a benchmark is absent there.
    """
    codes = np.array([STATUSES.index("ok")] * 2 + [0, 0], np.uint8)
    codes[MISSING] = STATUSES.index(_NO_ANSWER)
    codes[NOT_APPLICABLE] = STATUSES.index("not_applicable")
    statuses = codes[values]
    benchmark_of = np.array([item.benchmark for item in items])
    for benchmark in np.unique(benchmark_of):
        chosen = benchmark_of == benchmark
        absent = (values[:, chosen] >= MISSING).all(axis=(1, 2))
        statuses[np.ix_(absent, chosen)] = ABSENT
    return statuses


def refuse_missing(correctness: Correctness, where: Path | str) -> None:
    """Raise an error that names what is missing.

    Raises
    ------
    AnalysisError
        If anything is.
    """
    lacking = missing(correctness)
    if not lacking:
        return
    absent = [f"{x.model} on {x.benchmark}" for x in lacking if x.configuration is None]
    failed = sum(x.n for x in lacking if x.configuration is not None)
    parts = [f"nothing of {', '.join(absent[:_SHOWN])}"] if absent else []
    if failed:
        some = next(x for x in lacking if x.configuration is not None)
        parts.append(
            f"{failed} single observations, such as of {some.model} on {some.benchmark} under "
            f"{some.configuration}"
        )
    raise AnalysisError(
        f"observations are missing: {'; '.join(parts)}.",
        where=where,
        fix="add them, or set allow_missing to analyse the rest.",
    )
