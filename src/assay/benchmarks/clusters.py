"""Items that are not independent: duplicates, and questions about one thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from assay.benchmarks.adapters.draft import Content, Draft
from assay.benchmarks.traps import plain


def clusters(drafts: Sequence[Draft]) -> dict[str, str]:
    """Return native id → cluster, the smallest native id among the items it hangs together with.

    Items hang together through equal content or through an equal, non-empty `group`.
    """
    root = {draft.native_id: draft.native_id for draft in drafts}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    first: dict[object, str] = {}
    for draft in drafts:
        for tie in (draft.content, draft.group or None):
            if tie is None:
                continue
            one, other = sorted(
                (find(draft.native_id), find(first.setdefault(tie, draft.native_id)))
            )
            root[other] = one
    return {name: find(name) for name in root}


def duplicate_flags(
    drafts: Sequence[Draft], others: Mapping[str, Iterable[Draft]]
) -> dict[str, tuple[str, ...]]:
    """Return native id → flags that only the whole set can tell.

    Parameters
    ----------
    others : mapping
        Split name → its drafts; an item found there gets ``in_<split>``.
    """
    same: dict[Content, list[Draft]] = defaultdict(list)
    for draft in drafts:
        same[draft.content].append(draft)
    elsewhere = {split: {draft.content for draft in found} for split, found in others.items()}
    flags: dict[str, tuple[str, ...]] = {}
    for key, twins in same.items():
        shared = [f"in_{split}" for split, contents in elsewhere.items() if key in contents]
        if len(twins) > 1:
            shared.append("duplicate_item")
        if len({twin.subject for twin in twins}) > 1:
            shared.append("duplicate_across_subjects")
        if len({plain(twin.options[twin.gold]) for twin in twins}) > 1:
            shared.append("contradictory_gold")
        for twin in twins:
            flags[twin.native_id] = tuple(shared)
    return flags
