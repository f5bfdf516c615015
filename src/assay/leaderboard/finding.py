"""What every analysis returns: a frozen result that writes itself and says what it means."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from assay.core.identity import digest


@dataclass(frozen=True)
class Finding(ABC):
    """The result of one analysis of one scope.

    A subclass is a frozen dataclass too; it adds its numbers and says in one sentence what they
    show. Where an analysis cannot be done, its numbers are NaN and the sentence says why.

    Attributes
    ----------
    name : str
        What was analysed, the same for every scope: the key of the finding in files.
    benchmark : str
        The scope, a benchmark or "all".
    """

    name: ClassVar[str]
    benchmark: str

    @property
    @abstractmethod
    def reading(self) -> str:
        """One plain sentence, with the interval and the number of items."""

    def as_json(self) -> dict[str, Any]:
        """Return the name, the reading and every field, ready for a JSON file.

        Raises
        ------
        TypeError
            If a field holds something that JSON has no form for.
        """
        return {"name": self.name, "reading": self.reading, **_fields(self)}


def stream(*names: str) -> int:
    """Return a number that stands for `names` in the seed of a random generator.

    Two analyses with one seed then draw different numbers, and each draws the same ones whatever
    else is computed.

    Examples
    --------
    >>> stream("label_bias", "arc")
    2664117577
    """
    return int(digest(list(names), length=8), 16)


def _fields(result: Any) -> dict[str, Any]:
    return {field.name: plain(getattr(result, field.name)) for field in fields(result)}


def plain(value: Any) -> Any:
    """Return `value` as JSON knows it: no NaN, no array, no tuple, no dataclass.

    JSON has no number for what is undefined or infinite: both become null.

    Examples
    --------
    >>> plain({"gap": np.array([0.5, np.nan]), "n": np.int64(3)})
    {'gap': [0.5, None], 'n': 3}
    """
    if isinstance(value, np.ndarray | np.generic):
        numbers = value.tolist()
        # Large arrays are as a rule whole: nothing in them needs to be looked at one by one.
        whole = value.dtype.kind in "biu" or (value.dtype.kind == "f" and np.isfinite(value).all())
        return numbers if whole else plain(numbers)
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"a finding cannot hold a {type(value).__name__}: JSON has no form for it")
