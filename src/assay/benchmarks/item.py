"""One multiple-choice question, and the rules it must keep."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict

from assay.benchmarks.traps import LOCKING, plain
from assay.core.errors import SnapshotError
from assay.core.identity import digest

#: Labels run from A to Z.
MOST_OPTIONS = 26


class Item(BaseModel):
    """One multiple-choice question with its key and what is known about its traps.

    Attributes
    ----------
    benchmark : str
        The benchmark's `name`, the same whatever source the item came from.
    native_id : str
        The source's own id, or one made of the content where it has none.
    options : tuple of str
        In source order.
    gold : int
        Index of the keyed option.
    accepts : tuple of int
        Indices of every option with the keyed option's text, `gold` among them.
    cluster : str
        Shared by items that are not independent: duplicates, questions about one video.
    locked : bool
        The options name each other; only source order may be asked.
    flags : tuple of str
        Keys of `assay.benchmarks.traps.FLAGS`.
    aliases : tuple of str
        Other names of the item, e.g. subject/split/row.
    before : dict
        Raw values that cleaning changed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    benchmark: str
    native_id: str
    question: str
    options: tuple[str, ...]
    gold: int
    accepts: tuple[int, ...]
    subject: str = "all"
    cluster: str
    flags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    before: dict[str, Any] = {}

    @cached_property
    def item_id(self) -> str:
        """16 hex digits that change whenever a text, the key or the order changes."""
        content = [self.benchmark, self.native_id, self.question, list(self.options), self.gold]
        return digest(content, length=16)

    @property
    def locked(self) -> bool:
        """Whether only source order may be asked."""
        return not LOCKING.isdisjoint(self.flags)

    def line(self) -> dict[str, Any]:
        """Return the item as one JSON line of ``items.jsonl``."""
        return {"item_id": self.item_id, "locked": self.locked, **self.model_dump(mode="json")}

    @classmethod
    def from_line(cls, line: dict[str, Any], *, where: str) -> Item:
        """Return the item of a JSON line.

        Raises
        ------
        SnapshotError
            If the line's id is not the id of its content.
        """
        value = {key: kept for key, kept in line.items() if key not in ("item_id", "locked")}
        item = cls.model_validate(value)
        if item.item_id != line.get("item_id"):
            raise SnapshotError(
                f"item {line.get('item_id')} does not have the id of its content.",
                where=where,
                fix="build the snapshot again; items are never edited by hand.",
            )
        return item


def accepted(options: tuple[str, ...], gold: int) -> tuple[int, ...]:
    """Return the indices of every option whose text is the keyed option's, white space aside."""
    keyed = plain(options[gold])
    return tuple(index for index, option in enumerate(options) if plain(option) == keyed)


def check(question: str, options: tuple[str, ...], gold: int, *, where: str) -> None:
    """Raise `SnapshotError` unless the item can be asked and marked.

    Examples
    --------
    >>> check("1 + 1?", ("2", "3"), 0, where="sums.jsonl:1")
    """
    if not question.strip():
        raise SnapshotError("the question is empty.", where=where, fix="correct or remove the row.")
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise SnapshotError(
            f"an item needs 2 to {MOST_OPTIONS} options, this one has {len(options)}.",
            where=where,
            fix="correct or remove the row.",
        )
    empty = [index for index, option in enumerate(options) if not option.strip()]
    if empty:
        raise SnapshotError(
            f"option {empty[0]} (counted from 0) is empty.",
            where=where,
            fix="correct or remove the row; a model would be scored on nothing.",
        )
    if not 0 <= gold < len(options):
        raise SnapshotError(
            f"the gold index {gold} is out of range for {len(options)} options.",
            where=where,
            fix="positions count from 0; set columns.answer_kind if the answers are labels.",
        )
