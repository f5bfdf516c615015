"""Registries on disk: models, benchmarks and grids by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from assay.benchmarks.spec import BenchmarkSpec
from assay.core.errors import ConfigError
from assay.core.spec import ModelSpec
from assay.core.validation import unknown, validated
from assay.grid.configuration import Grid


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses a key written twice, which plain YAML lets the last one win."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    written = (key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge")
    pairs = [(loader.construct_object(key, deep=True), key) for key in written]
    seen: set[Any] = set()
    for name, key in pairs:
        if name in seen:
            mark = key.start_mark
            raise ConfigError(
                f"key {name!r} is written twice.", where=f"{mark.name}:{mark.line + 1}"
            )
        seen.add(name)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in `path`.

    Raises
    ------
    ConfigError
        If the file is missing or cannot be read, is not YAML, is not a mapping, or writes a key
        twice.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            value = yaml.load(stream, _Loader)  # noqa: S506 - a SafeLoader
    except FileNotFoundError as error:
        raise ConfigError("file not found.", where=path) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}.", where=path) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"not valid YAML: {error}", where=path) from error
    if value is None:  # nothing but comments
        return {}
    if not isinstance(value, dict):
        raise ConfigError("expected a mapping of keys to values.", where=path)
    return value


M = TypeVar("M", ModelSpec, BenchmarkSpec)

#: The models that come with Assay.
_ROSTER = Path(__file__).parent / "roster"


@cache
def _roster() -> dict[str, tuple[Path, Any]]:
    """Return key → (file, entry) of the packaged models."""
    files = sorted(_ROSTER.glob("*.yaml"))
    return {key: (file, entry) for file in files for key, entry in read_yaml(file).items()}


def _validated(model: type[M], key: str, entry: Any, where: str, inside: str) -> M:
    if not isinstance(entry, dict):
        raise ConfigError(f"{inside} must be a mapping.", where=where)
    return validated(model, {"key": key, **entry}, where=where, inside=inside)


def model_keys(registry: Path | None = None) -> list[str]:
    """Return the keys of the packaged roster and of the entries in `registry`, sorted."""
    own = read_yaml(registry) if registry else {}
    return sorted({*_roster(), *own})


def find_model(key: str, registry: Path | None = None) -> ModelSpec:
    """Return model `key` from the entries in `registry` or else from the packaged roster.

    Raises
    ------
    ConfigError
        If nothing has that key, or the entry is not a model's.
    """
    own = read_yaml(registry) if registry else {}
    if key in own:
        return _validated(ModelSpec, key, own[key], str(registry), key)
    if key in _roster():
        file, entry = _roster()[key]
        return _validated(ModelSpec, key, entry, str(file), key)
    raise unknown("model", key, model_keys(registry), where=registry or "the roster")


def load_model(folder: Path, key: str, defined: Mapping[str, Any]) -> ModelSpec:
    """Return model `key`: the run file's own, that of ``models.yaml``, or the roster's."""
    if key in defined:
        return _validated(ModelSpec, key, defined[key], "run file", f"define.models.{key}")
    path = folder / "models.yaml"
    registry = path if path.is_file() else None
    known = model_keys(registry)
    if key not in known:
        raise unknown("model", key, sorted({*known, *defined}), where=path)
    return find_model(key, registry)


def load_benchmark(folder: Path, key: str, defined: Mapping[str, Any]) -> BenchmarkSpec:
    """Return benchmark `key` from ``benchmarks.yaml`` in `folder` or the run file's entries."""
    if key in defined:
        where, inside = "run file", f"define.benchmarks.{key}"
        return _validated(BenchmarkSpec, key, defined[key], where, inside)
    registry = folder / "benchmarks.yaml"
    entries = read_yaml(registry)
    if key not in entries:
        raise unknown("benchmark", key, sorted({*entries, *defined}), where=registry)
    return _validated(BenchmarkSpec, key, entries[key], str(registry), key)


def load_grid(folder: Path, name: str) -> Grid:
    """Return the grid in ``grids/{name}.yaml`` of `folder`."""
    path = folder / "grids" / f"{name}.yaml"
    if not path.is_file():
        known = sorted(file.stem for file in path.parent.glob("*.yaml"))
        raise unknown("grid", name, known, where=path.parent)
    return validated(Grid, read_yaml(path), where=path)
