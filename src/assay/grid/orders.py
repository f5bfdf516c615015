"""Option orders: which permutation a name such as ``p4`` stands for with n options."""

from __future__ import annotations

import itertools
import math
import random
from functools import cache
from typing import Literal

from pydantic import Field, field_validator

from assay.grid.formats import MAX_OPTIONS, Strict

#: "cyclic": the n shifts of n options (a Latin square); "full": all n! orders.
Balance = Literal["cyclic", "full"]
Tables = dict[int, dict[str, tuple[int, ...]]]


class Orders(Strict):
    """How order names become permutations.

    Attributes
    ----------
    shifts : int
        Largest number of cyclic shifts that come first.
    seed : int
        Of the orders after the shifts and the reverse.
    written : dict
        Number of options → name → permutation, before any rule.
    balance : {"cyclic", "full"}, optional
        Every option stands in every slot equally often. An item whose orders the names cannot
        hold is asked in source order only.
    """

    shifts: int = Field(default=4, ge=1)
    seed: int = 1234
    written: Tables = Field(default_factory=dict)
    balance: Balance | None = None

    @field_validator("written")
    @classmethod
    def _are_permutations(cls, tables: Tables) -> Tables:
        for options, table in tables.items():
            for name, order in table.items():
                if sorted(order) != list(range(options)):
                    raise ValueError(f"{name} for {options} options is not a permutation: {order}")
        return tables

    def permutation(
        self, name: str, names: tuple[str, ...], options: int
    ) -> tuple[int, ...] | None:
        """Return the order `name` of a grid with the orders `names`; None if there is none left."""
        if self.balance is not None and self._size(options) > len(names):
            return tuple(range(options)) if name == names[0] else None
        written = self.written.get(options)
        if written is not None and name in written:
            return written[name]
        place = names.index(name)
        if self.balance is None:
            return named_orders(options, names, self.shifts, self.seed)[place]
        if place >= self._size(options):
            return None
        shifts = options if self.balance == "cyclic" else self.shifts
        return named_orders(options, names, shifts, self.seed)[place]

    def check_balance(self, names: tuple[str, ...]) -> None:
        """Raise ValueError if orders that are to be balanced are not, for some number of options.

        Examples
        --------
        >>> Orders(balance="cyclic").check_balance(("p0", "p1", "p2", "p3"))
        """
        if self.balance is None:
            return
        for options in range(2, MAX_OPTIONS + 1):
            size = self._size(options)
            if size > len(names):
                return
            found = {self.permutation(name, names, options) for name in names[:size]}
            if len(found) < size or any(
                len({order[slot] for order in found if order}) < options for slot in range(options)
            ):
                raise ValueError(f"the written orders of {options} options are not balanced")

    def _size(self, options: int) -> int:
        return options if self.balance == "cyclic" else math.factorial(options)


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
