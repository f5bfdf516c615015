"""What the wrapper around a question does to accuracy and to compliance."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.core.errors import AnalysisError
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.families import cluster_count
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, gap_interval, points
from assay.records.schema import STATUSES
from assay.stats.clusters import FEWEST_CLUSTERS, clustered_difference
from assay.stats.result import Interval

Floats = NDArray[np.float64]

_PARSED = STATUSES.index("ok")
_METHOD = "clustered difference, Bonferroni over pairs of formats"
_REFERENCE = "Miller (2024), arXiv:2411.00640"


@dataclass(frozen=True)
class Wrappers(Finding):
    """Format sensitivity (FSI) beside parse sensitivity (PSI), by model.

    Attributes
    ----------
    models, formats : tuple of str
    matched : bool
        Whether the formats were declared to be of one length in tokens. If not, length and format
        are confounded.
    items : tuple of int
        Observed in every format and order.
    accuracy, parsed : ndarray of float, shape (model, format)
    fsi, psi : tuple of Interval
        Largest minus smallest accuracy, or parse rate; intervals adjusted for having picked the
        extremes (Bonferroni over pairs of formats).
    """

    name: ClassVar[str] = "wrappers"
    models: tuple[str, ...]
    formats: tuple[str, ...]
    matched: bool
    items: tuple[int, ...]
    accuracy: Floats
    parsed: Floats
    fsi: tuple[Interval, ...]
    psi: tuple[Interval, ...]

    @property
    def reading(self) -> str:
        """The model that formats move most, and how much of that is compliance."""
        known = [m for m, found in enumerate(self.fsi) if not np.isnan(found.estimate)]
        if not known:
            return "Sensitivity to wrappers is unknown: no item was observed in two formats."
        m = max(known, key=lambda m: float(self.fsi[m].estimate))
        kind = "of one length" if self.matched else "not matched in length"
        return (
            f"Over {len(self.formats)} formats {kind}, the accuracy of {self.models[m]} moves by "
            f"{_shown(self.fsi[m])} (FSI), {'the most of all models, ' if len(known) > 1 else ''}"
            f"and its share of usable answers by {_shown(self.psi[m])} (PSI), on "
            f"{count(self.items[m], 'item')}."
        )


def _shown(found: Interval) -> str:
    shift = f"{points(float(found.estimate))} points"
    if np.isnan(found.low):
        return shift
    return f"{shift} ({gap_interval(float(found.low), float(found.high), level=found.level)})"


def wrappers(
    correctness: Correctness, scope: Scope, *, matched: Sequence[str] = (), level: float = 0.95
) -> Wrappers:
    """Return FSI and PSI: what formats do to accuracy and to compliance.

    Parameters
    ----------
    correctness : Correctness
    scope : Scope
    matched : sequence of str
        Generation formats of one length in tokens. Without any, all generation formats are
        compared and the result says that they are not matched.
    level : float

    Returns
    -------
    Wrappers

    Raises
    ------
    AnalysisError
        If a format of `matched` was not asked.

    References
    ----------
    Mehta, arXiv:2607.09665.
    """
    offered = correctness.offered(scope)
    ways = [(int(c), correctness.configurations[c]) for c in offered]
    asked = {way.format for _, way in ways if way.scoring == "gen"}
    if unknown := sorted(set(matched) - asked):
        raise AnalysisError(
            f"formats {', '.join(unknown)} were not asked.",
            where=scope.benchmark,
            fix=f"choose among {', '.join(sorted(asked))}.",
        )
    formats = sorted(matched or asked)
    along = [
        np.array([c for c, way in ways if (way.scoring, way.format) == ("gen", form)], np.intp)
        for form in formats
    ]
    rows = [_wrapped(correctness, scope, m, along, level) for m in correctness.ranked(scope)]
    shape = (len(rows), len(formats))
    return Wrappers(
        benchmark=scope.benchmark,
        models=tuple(correctness.models[m] for m in correctness.ranked(scope)),
        formats=tuple(formats),
        matched=bool(matched),
        items=tuple(row.items for row in rows),
        accuracy=np.array([row.accuracy for row in rows], float).reshape(shape),
        parsed=np.array([row.parsed for row in rows], float).reshape(shape),
        fsi=tuple(row.fsi for row in rows),
        psi=tuple(row.psi for row in rows),
    )


@dataclass(frozen=True, slots=True)
class _Wrapped:
    items: int
    accuracy: Floats
    parsed: Floats
    fsi: Interval
    psi: Interval


def _wrapped(
    correctness: Correctness,
    scope: Scope,
    m: int,
    along: Sequence[NDArray[np.intp]],
    level: float,
) -> _Wrapped:
    together = np.concatenate([*along, np.zeros(0, np.intp)])
    items = scope.items & correctness.present[m][:, together].all(axis=1)
    clusters = correctness.cluster_of[items]
    accuracy, parsed = (
        np.array([cells[np.ix_(items, c)].mean(axis=1) for c in along]).reshape(
            len(along), int(items.sum())
        )
        for cells in (correctness.right[m], correctness.statuses[m] == _PARSED)
    )
    return _Wrapped(
        items=int(items.sum()),
        accuracy=_means(accuracy),
        parsed=_means(parsed),
        fsi=_extremes(accuracy, clusters, level),
        psi=_extremes(parsed, clusters, level),
    )


def _means(shares: Floats) -> Floats:
    return shares.mean(axis=1) if shares.size else np.full(len(shares), np.nan)


def _extremes(shares: Floats, clusters: NDArray[np.intp], level: float) -> Interval:
    """Return the difference between the highest and the lowest row of shares."""
    formats, items = shares.shape
    if formats < 2 or not items:
        return Interval(math.nan, math.nan, math.nan, level, items, _METHOD, _REFERENCE)
    means = shares.mean(axis=1)
    lead = shares[means.argmax()] - shares[means.argmin()]
    pairs = formats * (formats - 1) / 2
    low = high = math.nan
    if cluster_count(clusters) >= FEWEST_CLUSTERS:
        with warnings.catch_warnings():
            # Formats that agree on every item have no interval: the NaN says so.
            warnings.simplefilter("ignore", RuntimeWarning)
            found = clustered_difference(lead, clusters, level=1 - (1 - level) / pairs).interval
        low, high = float(found.low), float(found.high)
    return Interval(float(lead.mean()), low, high, level, items, _METHOD, _REFERENCE)


def wrapper_table(found: Wrappers) -> pd.DataFrame:
    """Return one row for each model.

    Columns: model, benchmark (text), formats, n (whole; items), fsi, fsi_low, fsi_high, psi,
    psi_low, psi_high (real).
    """
    rows = [
        {
            "model": model,
            "benchmark": found.benchmark,
            "formats": len(found.formats),
            "n": found.items[m],
            "fsi": found.fsi[m].estimate,
            "fsi_low": found.fsi[m].low,
            "fsi_high": found.fsi[m].high,
            "psi": found.psi[m].estimate,
            "psi_low": found.psi[m].low,
            "psi_high": found.psi[m].high,
        }
        for m, model in enumerate(found.models)
    ]
    return pd.DataFrame(rows)
