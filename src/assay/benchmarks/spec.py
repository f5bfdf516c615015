"""What a benchmark is and which of its items are asked, as typed configuration."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from assay.benchmarks.traps import FLAGS
from assay.core.pins import Pin

AdapterName = Literal["labelled", "mmlu", "hellaswag", "truthfulqa", "piqa", "requests", "generic"]
Split = Literal["train", "dev", "validation", "test"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Columns(_Strict):
    """Which columns of a user's own file hold what.

    Attributes
    ----------
    options : str or tuple of str
        One column that holds a list of texts (JSONL, parquet), or one column per option (CSV);
        empty columns at the end mean fewer options.
    answer_kind : {"index", "label", "text"}
        What `answer` holds: a position from 0; a label (A, B, …, or an entry of `labels`); or the
        option's own text. It is never guessed, since "1" may be any of them.
    labels : str, optional
        Column that holds the list of labels, where they are not A, B, C, …
    """

    question: str = "question"
    options: str | tuple[str, ...] = "options"
    answer: str = "answer"
    answer_kind: Literal["index", "label", "text"] = "index"
    labels: str | None = None
    id: str | None = None
    subject: str | None = None


class BenchmarkSpec(_Strict):
    """One entry of the benchmark registry.

    `key` names folders and configuration; `name` is what the items' ids are made of, so that the
    same items from two sources (wheel and hub) have the same ids.
    """

    key: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    name: str = Field(default_factory=lambda data: data["key"], pattern=r"^[A-Za-z0-9._-]+$")
    title: str = Field(
        default_factory=lambda data: data["key"], description="for people: tables and figures"
    )
    source: Pin
    split: Split = "test"
    adapter: AdapterName
    licence: str
    attribution: str = Field(default="", description="shown beside published items")
    columns: Columns = Columns()
    filters: dict[str, str] = Field(
        default_factory=dict,
        description="source column → glob pattern; rows that do not match are left out and counted",
    )
    exclude: tuple[str, ...] = Field(
        default=(), description="flags whose items are left out and counted"
    )
    option_counts: tuple[int, ...] | None = Field(
        default=None, description="keep only items with these numbers of options"
    )
    keep_options: int | None = Field(
        default=None, ge=2, description="truthfulqa: the gold and its first distractors, up to this"
    )
    gold_seed: int | None = Field(
        default=0,
        description="truthfulqa: seed of the gold's position; null leaves it first, as in the"
        " source, where a model that always says A is right every time",
    )
    fewshot: Pin | None = Field(default=None, description="where examples come from")
    compare: dict[Split, Pin] = Field(
        default_factory=dict, description="other splits, in which duplicates are looked for"
    )
    preprocessing: int = Field(default=1, ge=1, description="version of the adapter's cleaning")

    @field_validator("exclude")
    @classmethod
    def _flags_are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted(set(value) - set(FLAGS)):
            raise ValueError(f"unknown flags {unknown}; known are {sorted(FLAGS)}")
        return value

    @model_validator(mode="after")
    def _truncation_is_truthfulqa(self) -> BenchmarkSpec:
        if self.keep_options is not None and self.adapter != "truthfulqa":
            raise ValueError("keep_options is for the truthfulqa adapter only; see option_counts")
        return self

    def pins(self) -> tuple[Pin, ...]:
        """Return every source that must be fetched before the snapshot can be built offline."""
        others = [self.fewshot] if self.fewshot is not None else []
        return (self.source, *others, *self.compare.values())

    def identity(self) -> dict[str, Any]:
        """Return what decides the items: everything except names for people and licences."""
        return self.model_dump(mode="json", exclude={"key", "title", "licence", "attribution"})


class Selection(_Strict):
    """Which items of a benchmark are asked.

    Attributes
    ----------
    rule : {"hash", "released", "all"}
        "hash": by the smallest hash of salt and native id, spread over subjects in proportion;
        "released": the old choice (seeded shuffle of the source order, pool of five, four options
        only); "all": every item.
    items : int, optional
        How many; None means all that there are.
    pool : int, optional
        Size of the few-shot pool, disjoint from the items; five under "released", else none.
    """

    rule: Literal["hash", "released", "all"] = "hash"
    items: int | None = Field(default=None, ge=1)
    salt: str = "assay"
    seed: int = 1234
    stratify: bool = True
    pool: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _all_means_all(self) -> Selection:
        if self.rule == "all" and self.items is not None:
            raise ValueError("rule 'all' takes no number of items; use 'hash' to take some")
        return self

    @property
    def pool_size(self) -> int:
        """Number of few-shot examples that are set aside."""
        return self.pool if self.pool is not None else 5 if self.rule == "released" else 0

    def identity(self) -> dict[str, Any]:
        """Return what decides the choice under this rule; settings it does not read are left out.

        Examples
        --------
        >>> Selection(rule="hash", items=6).identity()
        {'items': 6, 'pool': 0, 'rule': 'hash', 'salt': 'assay', 'stratify': True}
        """
        read: dict[str, Any] = {"items": self.items, "pool": self.pool_size, "rule": self.rule}
        if self.rule == "released":
            return {**read, "seed": self.seed}
        return {**read, "salt": self.salt, "stratify": self.stratify}
