"""Models by key: the packaged roster, and entries of a user's own over it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from assay.config.registry import find_model, model_keys
from assay.core.capability import Capability
from assay.core.pins import PathPin
from assay.core.spec import ModelSpec, Trait
from assay.models.compose import compose
from assay.models.runtime import RuntimeConfig
from assay.models.text import TextModel


def list_specs(*, trait: Trait | None = None, models: str | Path | None = None) -> list[ModelSpec]:
    """Return the models that can be loaded by key, by key.

    Parameters
    ----------
    trait : str, optional
        Only the models whose entry names it.
    models : path, optional
        A file in the form of ``config/models.yaml`` whose entries are added.
    """
    registry = _path(models)
    specs = [find_model(key, registry) for key in model_keys(registry)]
    return [spec for spec in specs if trait is None or trait in spec.traits]


def get_spec(key: str, *, models: str | Path | None = None) -> ModelSpec:
    """Return the entry `key` of the roster, or of the file `models` that is laid over it.

    Raises
    ------
    ConfigError
        If there is none; the known keys are named.

    Examples
    --------
    >>> get_spec("qwen3-8b").source.repo
    'Qwen/Qwen3-8B'
    """
    return find_model(key, _path(models))


def load(
    key: str,
    *,
    backend: str = "auto",
    want: Iterable[Capability | str] = (),
    checkpoint: str | Path | None = None,
    runtime: RuntimeConfig | None = None,
    models: str | Path | None = None,
) -> TextModel:
    """Return the model `key`, run by `backend`.

    Parameters
    ----------
    backend, want, runtime
        As in `assay.compose`: what the backend cannot give is refused before a weight is loaded.
    checkpoint : path, optional
        A folder written by save_pretrained that takes the place of the entry's weights, such as a
        fine-tune of that model.
    models : path, optional
        A file in the form of ``config/models.yaml`` laid over the roster.

    Raises
    ------
    ConfigError
        If nothing has that key, or there is no such backend.
    CapabilityError
        If the backend cannot give what is wanted.
    """
    spec = get_spec(key, models=models)
    if checkpoint is not None:
        spec = spec.model_copy(update={"source": PathPin(path=str(checkpoint))})
    return compose(spec, backend, runtime, want)


def _path(models: str | Path | None) -> Path | None:
    return None if models is None else Path(models)
