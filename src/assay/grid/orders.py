"""Option orders: which permutation a name such as ``p4`` stands for with n options."""

from __future__ import annotations

import itertools
import math
import random
from functools import cache


@cache
def named_orders(
    options: int, names: tuple[str, ...], shifts: int, seed: int
) -> tuple[tuple[int, ...] | None, ...]:
    """Return one permutation for each name, all different, or None when none is left.

    The first `shifts` are the cyclic shifts (``shown[p] = options[(p + k) % n]``), then comes the
    reverse, then seeded permutations that were not used yet. Two options have two orders only, so
    that the third name and later ones get None.

    Parameters
    ----------
    options : int
        Number of options n, at least 2.
    names : tuple of str
        Order names; only their number matters.
    shifts : int
        Largest number of cyclic shifts to use.
    seed : int
        Seed of the later orders; the same for every item with n options.
    """
    identity = tuple(range(options))
    used: list[tuple[int, ...]] = []
    rotations = (identity[k:] + identity[:k] for k in range(min(options, shifts)))
    for candidate in itertools.chain(rotations, [identity[::-1]]):
        if candidate not in used:
            used.append(candidate)
    generator = random.Random(f"{seed}/{options}")
    while len(used) < min(len(names), math.factorial(options)):
        candidate = tuple(generator.sample(identity, options))
        if candidate not in used:
            used.append(candidate)
    chosen: list[tuple[int, ...] | None] = [*used[: len(names)]]
    return tuple(chosen + [None] * (len(names) - len(chosen)))
