"""What a suite says of its tasks: area, capabilities, and the success that is expected."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from assay.core.errors import EvaluationError
from assay.core.validation import validated
from assay.evaluation.record import EvaluationRecord, Text


class _Strict(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


class Labels(_Strict):
    """What is said of one task; what is left out stays as the record has it."""

    task_area: Text | None = None
    capability_tags: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    expected_success_rate: Annotated[float, Field(ge=0, le=1)] | None = None

    @cached_property
    def said(self) -> dict[str, Any]:
        """Field of a record → value."""
        return self.model_dump(exclude_none=True)


class Rule(Labels):
    """Labels of all tasks whose id matches a pattern such as ``parsing-*``."""

    match: Text


class Taxonomy(_Strict):
    """Tasks with their labels; where a task is not listed, the first rule that matches it.

    A task is found by its id, or by what follows the last slash of it.
    """

    schema_version: Literal[1] = 1
    tasks: dict[str, Labels] = {}
    rules: tuple[Rule, ...] = ()
    defaults: Labels = Labels()

    def find(self, task_id: str) -> Labels | None:
        """Return what is said of a task; None where nothing but the defaults is."""
        named = self.tasks.get(task_id) or self.tasks.get(task_id.rsplit("/", 1)[-1])
        if named is not None:
            return named
        return next((rule for rule in self.rules if fnmatchcase(task_id, rule.match)), None)

    def label(self, record: EvaluationRecord) -> EvaluationRecord:
        """Return the record with what the taxonomy says of its task."""
        found = self.find(record.task_id)
        said = {**self.defaults.said, **(found.said if found else {})}
        said.pop("match", None)
        return record.model_copy(update=said) if said else record

    def unknown(self, task_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the tasks that neither a name nor a rule speaks of, sorted."""
        return tuple(sorted({task for task in task_ids if self.find(task) is None}))


def load_taxonomy(path: Path) -> Taxonomy:
    """Read a taxonomy from JSON or YAML.

    Raises
    ------
    EvaluationError
        If the file cannot be read, or has neither ``tasks`` nor ``rules``.
    ConfigError
        If it has an unknown key or a wrong value.
    """
    try:
        content = yaml.safe_load(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise EvaluationError(f"this is no taxonomy ({reason}).", where=path) from error
    if not isinstance(content, dict) or not ({"tasks", "rules"} & set(content)):
        raise EvaluationError(
            "a taxonomy is a mapping with `tasks` or `rules`.",
            where=path,
            fix='write {"tasks": {"task-id": {"taskArea": "…", "capabilityTags": ["…"]}}}.',
        )
    return validated(Taxonomy, content, where=path)
