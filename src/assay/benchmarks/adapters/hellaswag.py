"""HellaSwag, whose WikiHow half carries markup that was cleaned differently by different people.

Version 1 is the rule of the common harnesses, kept so that published numbers can be repeated: it
drops everything in square brackets, also text that belongs there ("[insert name]"), and makes
".." where a title follows a full stop. Version 2 removes the four real markers only. The
ActivityNet half has no markup: both versions give the same items there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from assay.benchmarks.adapters.draft import Draft, index, text, texts, value
from assay.benchmarks.sources.rows import Row
from assay.benchmarks.spec import BenchmarkSpec

_BRACKETS = re.compile(r"\[.*?\]")
_MARKER = re.compile(r"\s*\[(header|title|step|substeps)\]\s*")
_SENTENCE_ENDS = (".", "!", "?", ":", ";", ",")


def hellaswag(spec: BenchmarkSpec, rows: Sequence[Row]) -> Iterator[Draft]:
    """Yield the context (activity first) and its four endings.

    `ind` repeats, so that the id is ``source_id#ind``; contexts from one video or article form a
    group.
    """
    clean = CLEANING[spec.preprocessing]
    for where, row in rows:
        source, activity = text(row, "source_id", where), text(row, "activity_label", where)
        first, second = text(row, "ctx_a", where), text(row, "ctx_b", where)
        raw = f"{activity}: {first} {second.capitalize()}"
        endings = texts(row, "endings", where)
        question, options = clean(raw), tuple(clean(ending) for ending in endings)
        before: dict[str, object] = {}
        if question != raw.strip():
            before["question"] = raw
        if options != tuple(ending.strip() for ending in endings):
            before["options"] = list(endings)
        yield Draft(
            where=where,
            native_id=f"{source}#{value(row, 'ind', where)}",
            question=question,
            options=options,
            gold=index(value(row, "label", where), where),
            subject=activity,
            group=source,
            flags=("cleaned",) if before else (),
            before=before,
        )


def _version_1(raw: str) -> str:
    text_ = raw.strip().replace(" [title]", ". ")
    return _BRACKETS.sub("", text_).replace("  ", " ")


def _version_2(raw: str) -> str:
    """Remove markers; a title becomes a sentence of its own."""

    def replaced(match: re.Match[str]) -> str:
        before = raw[: match.start()].rstrip()
        if not before or match[1] != "title" or before.endswith(_SENTENCE_ENDS):
            return " "
        return ". "

    return " ".join(_MARKER.sub(replaced, raw).split())


#: What `preprocessing` means for this adapter.
CLEANING: dict[int, Callable[[str], str]] = {1: _version_1, 2: _version_2}
