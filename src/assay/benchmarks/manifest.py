"""What a snapshot says about itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from assay.benchmarks.item import Item


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Counts(_Strict):
    """How many items there are of each kind; `clusters` counts independent groups."""

    items: int
    subjects: dict[str, int]
    options: dict[str, int]
    flags: dict[str, int]
    locked: int
    clusters: int

    @classmethod
    def of(cls, items: Iterable[Item]) -> Counts:
        """Count `items`."""
        listed = list(items)
        return cls(
            items=len(listed),
            subjects=_sorted(Counter(item.subject for item in listed)),
            options=_sorted(Counter(f"{len(item.options):02d}" for item in listed)),
            flags=_sorted(Counter(flag for item in listed for flag in item.flags)),
            locked=sum(item.locked for item in listed),
            clusters=len({item.cluster for item in listed}),
        )


class File(_Strict):
    """Size and digest of one file of the snapshot."""

    rows: int
    bytes: int
    sha256: str


class Manifest(_Strict):
    """Everything needed to know, and to make again, the items of a snapshot.

    It holds no time, host or absolute path: equal inputs give equal bytes.

    Attributes
    ----------
    sources : dict
        Role ("items", "fewshot", "compare dev") → file name → sha256.
    rows : int
        Rows of the source, before anything was left out.
    excluded : dict
        Reason → number left out.
    available, selected : Counts
        Of the items that may be asked, and of those that are.
    """

    schema_version: Literal[1] = 1
    benchmark: str
    name: str
    title: str
    licence: str
    attribution: str
    spec: dict[str, Any]
    selection: dict[str, Any]
    sources: dict[str, dict[str, str]]
    rows: int
    excluded: dict[str, int]
    available: Counts
    selected: Counts
    files: dict[str, File]
    complete: Literal[True] = True


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
