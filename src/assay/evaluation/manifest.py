"""The manifest of a cycle: which runs are compared, by which policy, and who may explain it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BeforeValidator,
    Field,
    JsonValue,
    field_validator,
    model_validator,
)

from assay.core.errors import ConfigError
from assay.core.files import read_json
from assay.core.identity import canonical_json
from assay.core.validation import validated
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.llm import LLM, Strict
from assay.evaluation.record import Text

_YAML = frozenset({".yaml", ".yml"})


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


#: One path, or several.
Paths = Annotated[
    tuple[Text, ...], BeforeValidator(_several, json_schema_input_type=Text | tuple[Text, ...])
]


class Filters(Strict):
    """Which records of a run belong to an arm; patterns are shell patterns (``*``, ``?``, ``[]``).

    A record belongs where it matches one pattern of every list that is given.
    """

    variants: tuple[Text, ...] = Field(default=(), description="of the run itself, before renaming")
    tasks: tuple[Text, ...] = ()
    areas: tuple[Text, ...] = ()
    tags: tuple[Text, ...] = ()
    attempts: int | None = Field(default=None, ge=1, description="most attempts of a task")


class Arm(Strict):
    """One run, or a part of one."""

    name: Text = "baseline"
    job: Paths | None = Field(
        default=None, description="folder or file of a runner, or several whose attempts add up"
    )
    records: Text | None = Field(default=None, description="plain records, JSONL or CSV")
    adapter: Text | None = Field(default=None, description="found from the files where left out")
    filters: Filters = Filters()
    options: dict[str, JsonValue] = Field(default_factory=dict, description="of the adapter")
    count: int | None = Field(default=None, ge=0, description="records that the run must have")
    keep_going: bool = Field(
        default=False, description="count what cannot be read, instead of stopping at it"
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> Arm:
        if self.job and self.records:
            raise ValueError("give either job or records")
        if not self.sources and not self._is_part:
            raise ValueError("give job or records")
        return self

    @property
    def _is_part(self) -> bool:
        """Whether the arm is a part of another's run and needs no source of its own."""
        return False

    @property
    def sources(self) -> tuple[str, ...]:
        """The paths as they are written."""
        return self.job or ((self.records,) if self.records else ())

    @property
    def source_key(self) -> str:
        """Equal for two arms that are read alike."""
        plain = self.records is not None
        how = [self.adapter, self.options, self.keep_going]
        return canonical_json([plain, list(self.sources), *how])


class Conduct(Strict):
    """How the arms of an experiment were run; what is left out is unknown."""

    interleaved: bool | None = None
    order: str | None = None
    stopping_rule: str | None = None


class Experiment(Arm):
    """A candidate, and the hypothesis that it tries.

    With filters and neither job nor records it is a part of the baseline's run.

    Attributes
    ----------
    hypothesis_id : str or None
        One of the diagnosis.
    hypothesis : ImprovementHypothesis or None
        One that the manifest itself states; its id is the experiment's name where it has none.
        Without either the candidate is to be better on the whole suite.
    """

    name: Text = "candidate"
    hypothesis_id: Text | None = None
    hypothesis: ImprovementHypothesis | None = None
    replaces: Filters = Field(
        default=Filters(), description="the part of the baseline that the candidate replaces"
    )
    conduct: Conduct = Conduct()

    @model_validator(mode="before")
    @classmethod
    def _names_its_hypothesis(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not isinstance(value.get("hypothesis"), dict):
            return value
        name = value.get("name", "candidate")
        return {**value, "hypothesis": {"id": name, **value["hypothesis"]}}

    @model_validator(mode="after")
    def _has_at_most_one_hypothesis(self) -> Experiment:
        if self.hypothesis_id is not None and self.hypothesis is not None:
            raise ValueError("give hypothesisId or hypothesis, not both")
        return self

    @property
    def _is_part(self) -> bool:
        return self.filters != Filters()

    @property
    def stated(self) -> ImprovementHypothesis | None:
        """The hypothesis that needs no diagnosis."""
        if self.hypothesis_id is not None:
            return None
        return self.hypothesis or ImprovementHypothesis(id=self.name)


class CycleManifest(Strict):
    """Everything that a cycle is made from; paths are relative to the manifest's folder.

    Attributes
    ----------
    baseline : Arm
        The run that is diagnosed.
    confirmation : Arm or None
        A fresh run of the baseline that the candidates are compared with. Without one they are
        compared with the run that chose the hypotheses, whose weak capabilities look weaker than
        they are; the report says so.
    source, records : str or None
        Written by the JavaScript bridge; read by nobody.
    """

    schema_version: Literal[1] = 1
    cycle_id: Text | None = Field(default=None, description="the file's name where left out")
    taxonomy: Text | None = Field(default=None, description="tasks by area and capability")
    baseline: Arm
    confirmation: Arm | None = None
    policy: Annotated[str, Field(min_length=1)] | dict[str, JsonValue] = "statistical"
    experiments: tuple[Experiment, ...] = ()
    previous: Text | None = Field(default=None, description="cycle-report.json of the cycle before")
    llm: LLM | None = None
    source: str | None = None
    records: str | None = None

    @field_validator("experiments")
    @classmethod
    def _have_their_names(cls, value: tuple[Experiment, ...]) -> tuple[Experiment, ...]:
        names = [experiment.name for experiment in value]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} names two experiments")
        return value

    def arms(self) -> Iterator[tuple[str, Arm, tuple[Filters, ...]]]:
        """Yield every arm with the key that names it and the filters that make it up.

        An experiment that replaces a part of the baseline has that part as an arm of its own.
        """
        yield "baseline", self.baseline, (self.baseline.filters,)
        if self.confirmation is not None:
            yield "confirmation", self.confirmation, (self.confirmation.filters,)
        for number, experiment in enumerate(self.experiments):
            yield f"experiments.{number}", self._sourced(experiment), (experiment.filters,)
            if experiment.replaces != Filters():
                compared = self.confirmation or self.baseline
                yield f"replaced.{number}", compared, (compared.filters, experiment.replaces)

    def _sourced(self, arm: Arm) -> Arm:
        """Return the arm with the baseline's sources where it has none of its own."""
        if arm.sources:
            return arm
        names = ("job", "records", "adapter", "options", "count", "keep_going")
        return arm.model_copy(update={name: getattr(self.baseline, name) for name in names})

    def runs(self) -> dict[str, Arm]:
        """Return what has to be read: source key → an arm that is read so."""
        found: dict[str, Arm] = {}
        for _, arm, _ in self.arms():
            found.setdefault(arm.source_key, arm)
        return found

    def compared_with(self, number: int) -> str:
        """Return the key of the arm that experiment `number` is compared with."""
        if self.experiments[number].replaces != Filters():
            return f"replaced.{number}"
        return "baseline" if self.confirmation is None else "confirmation"


def read_manifest(path: Path) -> CycleManifest:
    """Return the manifest in `path`, JSON or YAML.

    Raises
    ------
    ConfigError
        If it is not there, cannot be read, or has a wrong key (with the allowed ones and a guess).
    """
    value: Any = _read_yaml(path) if path.suffix in _YAML else read_json(path)
    if not isinstance(value, dict):
        raise ConfigError("a manifest is a mapping of keys to values.", where=path)
    if any(key in value for key in ("cycle_id", "cycleId")):
        return validated(CycleManifest, value, where=path)
    return validated(CycleManifest, {"cycleId": path.stem, **value}, where=path)


def _read_yaml(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}.", where=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"not valid YAML: {' '.join(str(error).split())}", where=path) from error
