"""How far accuracy moves when only the way of asking changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.leaderboard.correctness import MISSING, Bools, Correctness, Scope
from assay.stats import proportion_ci


def band_table(correctness: Correctness, *, level: float = 0.95) -> pd.DataFrame:
    """Return one row for each model and scope.

    Everything in a row is over the same `n` items, those observed under every offered
    configuration, so that robust <= min <= reference <= max <= optimistic.

    reference
        Share right under the reference configuration.
    min, max
        Over single configurations; of equals, the first by key is named.
    robust
        Share right under all configurations.
    optimistic
        Share right under at least one: no single configuration need attain it.
    order_robust
        Share right under all orders of the reference format.
    format_robust
        Share right under all generation formats at the reference order.
    scoring_robust
        Share right under the reference and all likelihood configurations.

    incomplete
        Items that a missing observation keeps out of `n`. With them, and the missing counted as
        wrong and as right, the robust share lies between `robust_lowest` and `robust_highest`, and
        so for the optimistic one.

    An axis along which nothing varies has no value (NaN). Intervals are Wilson's; those of the
    extremes are not shown, because the extremes were picked for being extreme.
    """
    rows: list[dict[str, Any]] = []
    for scope in correctness.scopes():
        complete = correctness.complete(scope)
        rows += [_row(correctness, scope, m, complete[m], level) for m in correctness.ranked(scope)]
    return pd.DataFrame(rows)


def axes(correctness: Correctness) -> dict[str, NDArray[np.intp]]:
    """Return the configurations along each axis through the reference, itself included.

    Definitions: order = same scoring and format as the reference; format = same scoring and
    order; scoring = the reference and every configuration with another scoring.
    """
    reference = correctness.reference_configuration
    ways = correctness.configurations
    return {
        "order": _where(
            (w.scoring, w.format) == (reference.scoring, reference.format) for w in ways
        ),
        "format": _where(
            (w.scoring, w.order) == (reference.scoring, reference.order) for w in ways
        ),
        "scoring": _where(w == reference or w.scoring != reference.scoring for w in ways),
    }


def _where(flags: Any) -> NDArray[np.intp]:
    return np.flatnonzero(np.fromiter(flags, bool))


def _row(
    correctness: Correctness, scope: Scope, m: int, complete: Bools, level: float
) -> dict[str, Any]:
    offered = correctness.offered(scope)
    right = correctness.right[m][complete]
    n = int(complete.sum())
    accuracy = right.mean(axis=0) if n else np.full(right.shape[1], np.nan)
    lowest, highest = offered[np.argmin(accuracy[offered])], offered[np.argmax(accuracy[offered])]
    row: dict[str, Any] = {
        "model": correctness.models[m],
        "benchmark": scope.benchmark,
        "n": n,
        **_share("reference", right[:, correctness.reference], level),
        "min": accuracy[lowest],
        "max": accuracy[highest],
        "min_configuration": correctness.configurations[lowest].key,
        "max_configuration": correctness.configurations[highest].key,
        **_share("robust", right[:, offered].all(axis=1), level),
        **_share("optimistic", right[:, offered].any(axis=1), level),
    }
    row |= _bounds(correctness, scope, m, offered)
    for name, along in axes(correctness).items():
        along = np.intersect1d(along, offered)
        varies = n > 0 and along.size > 1
        row[f"{name}_robust"] = right[:, along].all(axis=1).mean() if varies else np.nan
    return row


def _bounds(
    correctness: Correctness, scope: Scope, m: int, offered: NDArray[np.intp]
) -> dict[str, Any]:
    """Return what missing observations leave open, over all items that could be complete."""
    asked = scope.items & correctness.applicable[:, offered].all(axis=1)
    cells = np.ix_(asked, offered)
    right, lost = correctness.right[m][cells], correctness.values[m][cells] == MISSING
    shares = {
        "robust_lowest": right.all(axis=1),
        "robust_highest": (right | lost).all(axis=1),
        "optimistic_lowest": right.any(axis=1),
        "optimistic_highest": (right | lost).any(axis=1),
    }
    return {
        "incomplete": int(lost.any(axis=1).sum()),
        **{name: hits.mean() if hits.size else np.nan for name, hits in shares.items()},
    }


def _share(name: str, hits: NDArray[np.bool_], level: float) -> dict[str, Any]:
    if not hits.size:
        return {name: np.nan, f"{name}_low": np.nan, f"{name}_high": np.nan}
    interval = proportion_ci(hits.sum(), hits.size, level=level)
    return {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
