"""Models by key: the packaged roster, and entries of a user's own over it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from assay.config.registry import find_model, model_keys
from assay.core.capability import Capability
from assay.core.pins import ApiPin, HubPin, PathPin
from assay.core.spec import ModelSpec, Trait
from assay.core.validation import validated
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
    base_url: str | None = None,
    served_as: str | None = None,
    key_env: str | None = None,
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
    base_url : str, optional
        An OpenAI-compatible server that has the model, such as ``http://localhost:8000/v1``; the
        backend is "api" then.
    served_as : str, optional
        The model's name on that server; by default that of its hub repository, else its key.
    key_env : str, optional
        The environment variable that holds the server's key.

    Raises
    ------
    ConfigError
        If nothing has that key, or there is no such backend, or the address is none.
    CapabilityError
        If the backend cannot give what is wanted.
    """
    spec = get_spec(key, models=models)
    if checkpoint is not None:
        spec = spec.model_copy(update={"source": PathPin(path=str(checkpoint))})
    if base_url is not None:
        spec = spec.model_copy(update={"source": _server(spec, base_url, served_as, key_env)})
    return compose(spec, backend, runtime, want)


def _server(spec: ModelSpec, base_url: str, name: str | None, key_env: str | None) -> ApiPin:
    own = spec.source.repo if isinstance(spec.source, HubPin) else spec.key
    value = {"base_url": base_url, "model": name or own, "access": {"key_env": key_env}}
    return validated(ApiPin, value, where=f"{spec.key} at base_url")


def _path(models: str | Path | None) -> Path | None:
    return None if models is None else Path(models)
