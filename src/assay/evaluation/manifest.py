"""The manifest of a cycle: which runs are compared, by which policy, and who may explain it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from assay.core.errors import ConfigError
from assay.core.files import read_json
from assay.core.identity import canonical_json
from assay.core.validation import validated
from assay.evaluation.hypothesis import ImprovementHypothesis
from assay.evaluation.record import Text

_YAML = frozenset({".yaml", ".yml"})
#: Fields of a request that this software writes itself.
_OWN_FIELDS = frozenset({"model", "input", "messages", "stream", "store"})
_SECRET = ("key", "auth", "token", "secret", "cookie")


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


#: One path, or several.
Paths = Annotated[
    tuple[Text, ...], BeforeValidator(_several, json_schema_input_type=Text | tuple[Text, ...])
]


class _Strict(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


class Filters(_Strict):
    """Which records of a run belong to an arm; patterns are shell patterns (``*``, ``?``, ``[]``).

    A record belongs where it matches one pattern of every list that is given.
    """

    variants: tuple[Text, ...] = Field(default=(), description="of the run itself, before renaming")
    tasks: tuple[Text, ...] = ()
    areas: tuple[Text, ...] = ()
    tags: tuple[Text, ...] = ()
    attempts: int | None = Field(default=None, ge=1, description="most attempts of a task")


class Arm(_Strict):
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


class Conduct(_Strict):
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


class LLM(_Strict):
    """Who explains the report with ``--llm``; the key stays in the environment."""

    endpoint: str = "https://api.openai.com/v1/responses"
    model: Text
    api_key_env: str | None = "OPENAI_API_KEY"
    headers: dict[Text, str] = Field(default_factory=dict)
    request: dict[str, JsonValue] = Field(default_factory=dict)
    timeout_sec: float = Field(default=180, gt=0, le=3600)
    max_input_tokens: int = Field(default=24_000, ge=1000, description="of the whole prompt")
    max_output_tokens: int = Field(default=2000, ge=16)

    @field_validator("endpoint")
    @classmethod
    def _is_known(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.username or parts.password or parts.query:
            raise _secret("an endpoint holds no user, key or query; see apiKeyEnv")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("an endpoint begins with http:// or https:// and names a host")
        if not value.rstrip("/").endswith(("/responses", "/chat/completions")):
            raise ValueError("an endpoint ends in /responses or /chat/completions")
        return value.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        if value is not None and not (value.isidentifier() and value == value.upper()):
            raise _secret("name an environment variable in capitals; the key itself stays there")
        return value

    @field_validator("headers")
    @classmethod
    def _holds_no_secret(cls, value: dict[str, str]) -> dict[str, str]:
        if any(word in name.lower() for name in value for word in _SECRET):
            raise _secret("a key is no header of a manifest; see apiKeyEnv")
        return value

    @field_validator("request")
    @classmethod
    def _adds_only(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        own = sorted(_OWN_FIELDS & set(value))
        if own:
            raise ValueError(f"{', '.join(own)} is set by Assay and may not be in the request")
        if any(word in name.lower() for name in value for word in ("key", "auth", "secret")):
            raise _secret("a key is no field of a request; see apiKeyEnv")
        return value


def _secret(message: str) -> PydanticCustomError:
    """Return an error whose message never shows the value: it may be a key."""
    return PydanticCustomError("secret", "{message}", {"message": message})


class CycleManifest(_Strict):
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
    expected_from: Filters | None = Field(
        default=None,
        description="the part of the baseline whose success at a task is expected at that task",
    )
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
    except FileNotFoundError as error:
        raise ConfigError("file not found.", where=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"not valid YAML: {error}", where=path) from error
