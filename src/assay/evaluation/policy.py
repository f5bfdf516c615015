"""Policies: named, versioned values by which the evaluation core decides."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from assay.core.errors import ConfigError, EvaluationError
from assay.core.validation import validated
from assay.evaluation.registries import is_file_name, located, names
from assay.evaluation.results import PolicyName

Share = Annotated[float, Field(ge=0, le=1)]
Level = Annotated[float, Field(gt=0, lt=1)]
Rate = Annotated[float, Field(ge=0)]
Metric = Literal["tokens", "cost", "latency_p50", "latency_p95", "safety", "infrastructure"]


class Policy(BaseModel):
    """Every value that a diagnosis, a comparison or a decision depends on.

    Attributes
    ----------
    rules : {"points", "tests"}
        points: thresholds on rates, the original core's rules to the letter (rounding, null
        handling, order and ids included); tests: the tests of `assay.stats`.
    expected_success_rate : float
        Of a task of which the taxonomy says nothing.
    regression_tolerance : float
        points: a loss above it is a regression; tests: margin of non-inferiority.
    max_safety_violation_increase, max_infrastructure_failure_increase : float
        tests: 0 asks that no increase is demonstrated, more that its upper bound is below.
    alpha_weak, alpha_superiority, alpha_harm : float
        Levels of the tests: weakness and harm after Holm, superiority one-sided.
    guardrails : tuple of str
        Metrics with a limit, on the target and on the suite.
    unmeasured, baseline_reuse : {"block", "allow"}
        Whether a guardrail that was not measured, and a baseline that also suggested the
        hypothesis, keep a candidate from being deployed.
    candidates : {"together", "alone"}
        Whether what the candidates of one cycle show is corrected over all of them.
    unpaired : {"missing", "ignore"}
        Whether tasks of one arm alone count against the candidate.
    changed_versions : {"refuse", "exclude"}
        What to do with tasks whose checksum differs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str
    version: Annotated[int, Field(ge=1)]
    rules: Literal["points", "tests"]
    expected_success_rate: Share
    weak_capability_gap: Share
    diagnostic_minimum_samples: Annotated[int, Field(ge=1)]
    experiment_minimum_samples: Annotated[int, Field(ge=1)]
    target_uplift_floor: Share
    target_uplift_ceiling: Share
    regression_tolerance: Share
    max_latency_increase_rate: Rate
    max_token_increase_rate: Rate
    max_cost_increase_rate: Rate
    max_safety_violation_increase: Share
    max_infrastructure_failure_increase: Share
    alpha_weak: Level = 0.05
    alpha_superiority: Level = 0.025
    alpha_harm: Level = 0.05
    level: Level = 0.95
    power: Level = 0.8
    guardrails: tuple[Metric, ...] = ()
    unmeasured: Literal["block", "allow"] = "block"
    baseline_reuse: Literal["block", "allow"] = "block"
    candidates: Literal["together", "alone"] = "together"
    unpaired: Literal["missing", "ignore"] = "missing"
    changed_versions: Literal["refuse", "exclude"] = "refuse"

    @property
    def points(self) -> bool:
        """Whether the original core's point rules apply."""
        return self.rules == "points"

    @property
    def label(self) -> PolicyName:
        """What a result says of the policy that made it."""
        return PolicyName(name=self.name, version=self.version, digest=self.digest)

    @property
    def digest(self) -> str:
        """SHA-256 of the values."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def policy_names() -> list[str]:
    """Return the names of policies at hand, sorted: the packaged ones and the project's."""
    return names("policies")


def _values(path: Path) -> dict[str, Any]:
    """Return every value of a policy's file; what it leaves out is that of its ``base``."""
    value = _read(path)
    base = value.pop("base", None)
    if base is None:
        return value
    if not isinstance(base, str) or is_file_name(base) or base == path.stem:
        raise ConfigError("`base` is the name of another policy.", where=path)
    return {**_values(located("policies", base)), **value}


def _read(path: Path) -> dict[str, Any]:
    try:
        value = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise EvaluationError(f"cannot be read as a policy: {error}", where=path) from error
    if not isinstance(value, dict):
        raise EvaluationError("a policy is a mapping of keys to values.", where=path)
    return value


def load_policy(
    source: str | Path | Mapping[str, Any] = "statistical", *, where: str | Path = "policy"
) -> Policy:
    """Return a policy.

    Parameters
    ----------
    source : str, Path or mapping
        A name (`policy_names`), a YAML file, or a mapping of keys to change, whose `name` says in
        which policy (default ``statistical``). A file has every key, or a `base` whose values it
        changes. What was changed shows in `digest`.
    where : str or Path
        What an error names, where `source` is a mapping.

    Raises
    ------
    ConfigError
        If the name, a key or a value is unknown or out of range.
    EvaluationError
        If the file cannot be read.

    Examples
    --------
    >>> load_policy({"name": "equaxis-v1", "weak_capability_gap": 0.2}).weak_capability_gap
    0.2
    """
    if isinstance(source, str) and is_file_name(source):
        source = Path(source)
    if isinstance(source, Path):
        return validated(Policy, _values(source), where=source)
    if isinstance(source, str):
        return validated(Policy, _values(located("policies", source)), where=source)
    base = located("policies", str(source.get("name", "statistical")))
    return validated(Policy, {**_values(base), **source}, where=where)
