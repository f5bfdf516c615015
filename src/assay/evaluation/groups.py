"""Attempts by task, area and capability, and how often each failure code occurs in a group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.evaluation.aggregates import Members
from assay.evaluation.policy import Policy
from assay.evaluation.table import UNKNOWN, Bits, Floats, Ints, Table


def by_code(table: Table, column: str) -> Members:
    """Group attempts by a column of codes; those without one belong nowhere."""
    codes = table.codes[column].astype(np.int64)
    rows = np.flatnonzero(codes >= 0)
    return Members(rows, codes[rows], len(table.names[column]))


def capabilities(table: Table, keep: Bits | None = None) -> list[str]:
    """Return the tags that occur, or occur among the attempts to `keep`, sorted."""
    codes = table.codes["tags"]
    used = np.unique(codes if keep is None else codes[keep])
    return sorted({tag for code in used.tolist() for tag in table.tag_names[code]})


def by_tag(table: Table, tags: Sequence[str], keep: Bits | None = None) -> Members:
    """Group attempts by capability, in the order of `tags`; an attempt counts once per tag.

    Parameters
    ----------
    keep : ndarray of bool, shape (attempt,), optional
        The attempts to group; all where left out.
    """
    number = {tag: place for place, tag in enumerate(tags)}
    sets = [sorted({number[t] for t in names if t in number}) for names in table.tag_names]
    sizes = np.array([len(tags_of) for tags_of in sets], np.int64)
    starts = np.cumsum(sizes) - sizes
    flat = np.array([place for tags_of in sets for place in tags_of], np.int64)
    kept = np.arange(len(table)) if keep is None else np.flatnonzero(keep)
    code = table.codes["tags"][kept]
    counts = sizes[code]
    offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = flat[np.repeat(starts[code], counts) + offset]
    return Members(np.repeat(kept, counts), places, len(tags))


def by_area(table: Table, areas: Sequence[str]) -> Members:
    """Group attempts by area, in the order of `areas`; those of another belong nowhere."""
    number = {area: place for place, area in enumerate(areas)}
    place = np.array([number.get(name, UNKNOWN) for name in table.names["area"]], np.int64)
    found = place[table.codes["area"]]
    rows = np.flatnonzero(found >= 0)
    return Members(rows, found[rows], len(areas))


def crossed(first: Members, codes: Ints, count: int) -> Members:
    """Split each group by a code of the attempt: group ``g * count + code``."""
    return Members(
        first.rows, first.groups * count + codes[first.rows].astype(np.int64), first.count * count
    )


def code_counts(table: Table, members: Members, policy: Policy) -> list[dict[str, int]]:
    """Count the failure codes of each group.

    Returns
    -------
    list of dict
        Code → attempts, the most frequent first (point rules: in order of appearance).
    """
    return _counts(members, table.codes["code"][members.rows], table.names["code"], policy)


def tag_counts(
    table: Table, members: Members, tags: Sequence[str], policy: Policy
) -> list[dict[str, int]]:
    """Count the tags of each group's attempts; ordered as in `code_counts`."""
    group = np.full(len(table), UNKNOWN)
    group[members.rows] = members.groups
    tagged = by_tag(table, tags, group >= 0)
    return _counts(
        Members(tagged.rows, group[tagged.rows], members.count), tagged.groups, tags, policy
    )


def _counts(
    members: Members, codes: Ints, names: Sequence[str], policy: Policy
) -> list[dict[str, int]]:
    known = codes >= 0
    width = max(1, len(names))
    keys = members.groups[known] * width + codes[known]
    unique, first, number = np.unique(keys, return_index=True, return_counts=True)
    found: list[list[tuple[int, int, str]]] = [[] for _ in range(members.count)]
    for key, place, n in zip(unique.tolist(), first.tolist(), number.tolist(), strict=True):
        order = place if policy.points else -n
        found[key // width].append((order, n, names[key % width]))
    return [{name: n for _, n, name in sorted(group, key=_rank)} for group in found]


def _rank(entry: tuple[int, int, str]) -> tuple[int, str]:
    return entry[0], entry[2]


def means(values: Floats, members: Members) -> Floats:
    """Return the mean of a column over each group, NaN for an empty one."""
    n = np.bincount(members.groups, minlength=members.count)
    total = np.bincount(members.groups, values[members.rows], members.count)
    return np.asarray(total / np.where(n > 0, n, np.nan), float)
