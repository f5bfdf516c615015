"""Leaderboards drawn from generator G, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.leaderboard.correctness import Correctness
from support.twin import CONFIGURATIONS, REFERENCE, simulate

from .builders import build

_ORDER = np.argsort([way.key for way in CONFIGURATIONS])
KEYS = tuple(CONFIGURATIONS[k].key for k in _ORDER)


def bits(models: int, items: int, *, seed: int, **options: float) -> np.ndarray:
    """Return right and wrong under the 26 configurations, best model first."""
    rng = np.random.default_rng([seed, 9])
    theta = np.linspace(0.5, 1.9, models)[::-1]
    return simulate(theta, items=items, rng=rng, **options)[:, :, _ORDER]


def grid(
    models: int,
    items: int,
    *,
    seed: int,
    benchmarks: Sequence[str] | None = None,
    **options: float,
) -> Correctness:
    """Return a complete leaderboard of generator G."""
    values = bits(models, items, seed=seed, **options)
    return build(values, keys=KEYS, reference=REFERENCE, benchmarks=benchmarks)
