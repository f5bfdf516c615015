"""Registries on disk: models, benchmarks and grids by name."""

from __future__ import annotations

from collections.abc import Mapping
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
        If the file is missing, is not YAML, is not a mapping, or writes a key twice.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            value = yaml.load(stream, _Loader)  # noqa: S506 - a SafeLoader
    except FileNotFoundError as error:
        raise ConfigError("file not found.", where=path) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"not valid YAML: {error}", where=path) from error
    if not isinstance(value, dict):
        raise ConfigError("expected a mapping of keys to values.", where=path)
    return value


M = TypeVar("M", ModelSpec, BenchmarkSpec)


def _load(model: type[M], registry: Path, defined: Mapping[str, Any], kind: str, key: str) -> M:
    """Return entry `key`, the run file's own definition before the registry's."""
    entries: dict[str, Any] = read_yaml(registry)
    if key not in entries and key not in defined:
        raise unknown(kind, key, sorted({*entries, *defined}), where=registry)
    own = key in defined
    entry = defined[key] if own else entries[key]
    where = "run file" if own else str(registry)
    inside = f"define.{kind}s.{key}" if own else key
    if not isinstance(entry, dict):
        raise ConfigError(f"{inside} must be a mapping.", where=where)
    return validated(model, {"key": key, **entry}, where=where, inside=inside)


def load_model(folder: Path, key: str, defined: Mapping[str, Any]) -> ModelSpec:
    """Return model `key` from ``models.yaml`` in `folder`, or from the run file's own entries."""
    return _load(ModelSpec, folder / "models.yaml", defined, "model", key)


def load_benchmark(folder: Path, key: str, defined: Mapping[str, Any]) -> BenchmarkSpec:
    """Return benchmark `key` from ``benchmarks.yaml`` in `folder` or the run file's entries."""
    return _load(BenchmarkSpec, folder / "benchmarks.yaml", defined, "benchmark", key)


def load_grid(folder: Path, name: str) -> Grid:
    """Return the grid in ``grids/{name}.yaml`` of `folder`."""
    path = folder / "grids" / f"{name}.yaml"
    if not path.is_file():
        known = sorted(file.stem for file in path.parent.glob("*.yaml"))
        raise unknown("grid", name, known, where=path.parent)
    return validated(Grid, read_yaml(path), where=path)
