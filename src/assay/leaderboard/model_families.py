"""Which models are relatives: what one of them finds hard, the others are likely to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_LETTERS = re.compile(r"[^\W\d_]+")


def model_family(name: str) -> str:
    """Return the letters that a model's name begins with, without its publisher.

    Examples
    --------
    >>> model_family("Qwen/Qwen3-0.6B"), model_family("llama3.1-8b"), model_family("mixtral-8x7b")
    ('qwen', 'llama', 'mixtral')
    """
    short = name.rsplit("/", 1)[-1]
    found = _LETTERS.match(short)
    return found.group().lower() if found else short


def family_codes(
    models: Sequence[str], families: Mapping[str, str] | None = None
) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the families, sorted, and the family of each model as a number.

    Parameters
    ----------
    models : sequence of str
    families : mapping of str to str, optional
        Model → family; a model that it leaves out has the family of its name.
    """
    given = families or {}
    names, codes = np.unique([given.get(m, model_family(m)) for m in models], return_inverse=True)
    return tuple(str(name) for name in names), codes.astype(np.intp)
