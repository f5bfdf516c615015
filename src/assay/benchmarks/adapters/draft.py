"""What an adapter makes of a source row, before flags, clusters and exclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from assay.benchmarks.item import check
from assay.benchmarks.sources.rows import Location
from assay.benchmarks.traps import plain
from assay.core.errors import SnapshotError
from assay.core.identity import digest

Content = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Draft:
    """A question as its source has it.

    Attributes
    ----------
    native_id : str
        The source's id; empty where it has none (see `with_content_ids`).
    group : str
        What else the item depends on (a video), or empty.
    before : dict
        Raw values that cleaning changed.
    """

    where: Location
    question: str
    options: tuple[str, ...]
    gold: int
    native_id: str = ""
    subject: str = "all"
    group: str = ""
    flags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    before: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def content(self) -> Content:
        """What makes two items the same question: the texts, in any order of the options.

        White space is collapsed; letter case is kept, since it may be the whole difference.
        """
        return plain(self.question), tuple(sorted(map(plain, self.options)))

    def cleaned(self) -> Draft:
        """Return the draft without outer white space, keeping what was there; check it.

        A blank at the end of a question or before an option would double the one the prompt puts
        there and move token boundaries.

        Raises
        ------
        SnapshotError
            If the item cannot be asked or marked.
        """
        where = f"{self.where} ({self.native_id})" if self.native_id else str(self.where)
        check(self.question, self.options, self.gold, where=where)
        question = self.question.strip()
        options = tuple(option.strip() for option in self.options)
        before = dict(self.before)
        if question != self.question:
            before.setdefault("question", self.question)
        if options != self.options:
            before.setdefault("options", list(self.options))
        flags = self.flags if before == self.before else (*self.flags, "cleaned")
        return replace(
            self,
            question=question,
            options=options,
            before=before,
            flags=tuple(dict.fromkeys(flags)),
        )


def with_content_ids(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Yield drafts that lack an id with one made of subject and content.

    Rows of equal content are numbered in source order, so that each keeps an id of its own.
    """
    seen: Counter[str] = Counter()
    for draft in drafts:
        if draft.native_id:
            yield draft
            continue
        content = [draft.question, list(draft.options), draft.gold]
        name = digest(content, length=12)
        if draft.subject != "all":
            name = f"{draft.subject}/{name}"
        seen[name] += 1
        yield replace(draft, native_id=name if seen[name] == 1 else f"{name}#{seen[name]}")


def value(row: Mapping[str, Any], column: str, where: Location) -> Any:
    """Return `row[column]`, or say which columns there are."""
    if column not in row:
        raise SnapshotError(
            f"there is no column {column!r}.",
            where=str(where),
            fix=f"the columns are {', '.join(map(str, row))}; check the adapter or `columns`.",
        )
    return row[column]


def text(row: Mapping[str, Any], column: str, where: Location) -> str:
    """Return `row[column]`, which must be a text."""
    found = value(row, column, where)
    if not isinstance(found, str):
        raise SnapshotError(
            f"column {column!r} holds {found!r}, not a text.",
            where=str(where),
            fix="correct the row, or quote the value.",
        )
    return found


def texts(row: Mapping[str, Any], column: str, where: Location) -> tuple[str, ...]:
    """Return `row[column]`, which must be a list of texts."""
    found = value(row, column, where)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise SnapshotError(
            f"column {column!r} holds {found!r}, not a list of texts.",
            where=str(where),
            fix="give a list, or name one column per option in columns.options.",
        )
    return tuple(found)


def index(found: Any, where: Location) -> int:
    """Return a position from 0 that may be written as text (HellaSwag, CSV)."""
    written = str(found).strip()
    if isinstance(found, bool) or not written.lstrip("-").isdigit():
        raise SnapshotError(
            f"the answer is {found!r}, not a position from 0.",
            where=str(where),
            fix="use a split that has labels, or set columns.answer_kind.",
        )
    return int(written)


def position(label: Any, labels: Sequence[str], where: Location) -> int:
    """Return where `label` stands in the row's own labels, whatever those are."""
    wanted = str(label).strip()
    if wanted not in labels:
        raise SnapshotError(
            f"the answer {label!r} is none of the labels {list(labels)}.",
            where=str(where),
            fix="use a split that has answers, or correct the row.",
        )
    return labels.index(wanted)
