"""Turn pydantic's errors into one message that names the key and what is allowed."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.core.errors import ConfigError

M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], value: Any, *, where: str | Path, inside: str = "") -> M:
    """Return `value` as a `model`, or raise a `ConfigError` that a user can act on.

    Parameters
    ----------
    where : str or Path
        The file the value was read from.
    inside : str
        The key path of `value` in that file.

    Raises
    ------
    ConfigError
        Naming every wrong key, with the allowed keys beside an unknown one.
    """
    try:
        # JSON mode is strict about types and yet knows that a JSON list may be a tuple.
        return model.model_validate_json(json.dumps(value, default=str))
    except ValidationError as error:
        problems = [_problem(model, detail, inside) for detail in error.errors()]
        raise ConfigError("; ".join(dict.fromkeys(problems)) + ".", where=where) from error


def first_problem(error: ValidationError) -> str:
    """Return one line for a file that is not what it should be: its first fault, and how many."""
    first, *rest = error.errors()
    place = ".".join(str(part) for part in first["loc"]) or "value"
    more = f" (and {len(rest)} more)" if rest else ""
    return f"{place}: {first['msg'].removeprefix('Value error, ')}{more}"


def _problem(model: type[BaseModel], detail: Any, inside: str) -> str:
    location = [str(part) for part in detail["loc"]]
    path = ".".join(([inside] if inside else []) + location)
    if detail["type"] == "extra_forbidden":
        allowed = _allowed(model, location[:-1])
        close = difflib.get_close_matches(location[-1], allowed, n=1)
        guess = f" (did you mean {close[0]!r}?)" if close else ""
        return f"unknown key {path!r}{guess}; allowed: {', '.join(allowed)}"
    if detail["type"] == "missing":
        return f"key {path!r} is missing"
    message = detail["msg"].removeprefix("Value error, ")
    hidden = isinstance(detail["input"], dict | list) or detail["type"] == "secret"
    shown = "" if hidden else f" (got {detail['input']!r})"
    return f"{path or 'value'}: {message}{shown}"


def _allowed(model: type[BaseModel], parents: list[str]) -> list[str]:
    """Return the keys, as a file has them, of the nested model that `parents` leads to."""
    current: Any = model
    for name in parents:
        nested = _model_in(_by_key(current).get(name))
        if nested is not None:
            current = nested
    return sorted(_by_key(current))


def _by_key(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_in(argument)
        if found is not None:
            return found
    return None


def unknown(kind: str, name: str, known: list[str], *, where: str | Path) -> ConfigError:
    """Return the error for a `name` that is not among the `known` ones."""
    close = difflib.get_close_matches(name, known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return ConfigError(
        f"unknown {kind} {name!r}.{guess}", where=where, fix=f"use one of: {', '.join(known)}."
    )
