"""What the workflow's rules hand on: results as files, and the parameters of a cycle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from assay.core.errors import EvaluationError
from assay.core.files import read_json
from assay.core.validation import first_problem, validated
from assay.evaluation.manifest import CycleManifest

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """A cycle's parameters, as every rule's script is given them.

    Attributes
    ----------
    folder : Path
        What the manifest's paths are relative to.
    draws, seed : int
        Splits into equal arms.
    """

    manifest: CycleManifest
    folder: Path
    draws: int
    seed: int

    @classmethod
    def of(cls, spec: str) -> Step:
        """Read the parameters (canonical JSON)."""
        value: dict[str, Any] = json.loads(spec)
        manifest = validated(CycleManifest, value["manifest"], where=value["cycle"])
        return cls(manifest, Path(value["folder"]), value["equal_arms"], value["seed"])


def read_result(path: Path, kind: type[T]) -> T:
    """Return the result of type `kind` that a step before wrote to `path`.

    Raises
    ------
    EvaluationError
        If it is none of this version.
    """
    try:
        return TypeAdapter(kind).validate_json(json.dumps(read_json(path)))
    except ValidationError as error:
        raise EvaluationError(
            f"not a result of this version: {first_problem(error)}.",
            where=path,
            fix="delete it and run the workflow again.",
        ) from error


def plain(value: Any) -> Any:
    """Return a result, or a sequence of them, as JSON."""
    return TypeAdapter(type(value)).dump_python(value, mode="json", by_alias=True)
