"""Which items are asked: independent of row order, spread over subjects, growing without change."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from assay.benchmarks.adapters.draft import Draft
from assay.benchmarks.spec import BenchmarkSpec, Selection
from assay.core.errors import SnapshotError
from assay.core.identity import sha256_text

#: The old scripts asked four-option items only, and cut TruthfulQA to its first three distractors.
RELEASED_OPTIONS = 4


def released_spec(spec: BenchmarkSpec) -> BenchmarkSpec:
    """Return `spec` with the released restriction to four options."""
    cut = RELEASED_OPTIONS if spec.adapter == "truthfulqa" else None
    return spec.model_copy(update={"option_counts": (RELEASED_OPTIONS,), "keep_options": cut})


def select(
    drafts: Sequence[Draft], selection: Selection, *, where: str
) -> tuple[list[Draft], list[Draft]]:
    """Return (items, few-shot pool), which share no question.

    Parameters
    ----------
    drafts : sequence of Draft
        All that may be asked, in any order.
    where : str
        Names the benchmark in errors.

    Raises
    ------
    SnapshotError
        If more items are asked for than there are.
    """
    size = selection.pool_size
    wanted = selection.items or max(len(drafts) - size, 1)
    if wanted + size > len(drafts):
        pool = f" and a pool of {size}" if size else ""
        raise SnapshotError(
            f"{wanted} items{pool} are asked for, but only {len(drafts)} exist.",
            where=where,
            fix=f"ask for at most {max(len(drafts) - size, 0)} items.",
        )
    if selection.rule == "released":
        order = sorted(drafts, key=lambda draft: draft.where)
        random.Random(selection.seed).shuffle(order)
        items = order[size : size + wanted]
        return items, pool_from(order[:size], items, size)
    order = by_hash(drafts, selection)
    items = order[:wanted]
    # From the far end, so that the pool stays the same while the number of items grows.
    return items, pool_from(order[wanted:][::-1], items, size)


def pool_from(candidates: Sequence[Draft], items: Sequence[Draft], size: int) -> list[Draft]:
    """Return the first `size` candidates whose question is not among `items`."""
    asked = {draft.content for draft in items}
    return [draft for draft in candidates if draft.content not in asked][:size]


def by_hash(drafts: Sequence[Draft], selection: Selection) -> list[Draft]:
    """Return all drafts, of which every prefix is a sample spread over subjects in proportion.

    The k-th smallest hash (from 0) of a subject of N items has the key ``(k + u) / N``, where u is
    the subject's own draw in [0, 1); the smallest keys come first. A prefix of n holds of every
    subject its share n·N/ΣN, give or take one, and over salts every item is as likely as another:
    small subjects are not shut out, as they are when shares below one are rounded by largest
    remainder. Asking for more items later keeps those already asked.
    """
    strata: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        strata[draft.subject if selection.stratify else ""].append(draft)
    keyed: list[tuple[float, str, Draft]] = []
    for subject, members in strata.items():
        start = _unit(f"{selection.salt}\0subject\0{subject}")
        members.sort(key=lambda draft: sha256_text(f"{selection.salt}\0{draft.native_id}"))
        keyed += [
            ((rank + start) / len(members), draft.native_id, draft)
            for rank, draft in enumerate(members)
        ]
    return [draft for *_, draft in sorted(keyed, key=lambda entry: entry[:2])]


def _unit(text: str) -> float:
    """Return a number in [0, 1) drawn from the hash of `text`."""
    return int(sha256_text(text)[:13], 16) / 16**13
