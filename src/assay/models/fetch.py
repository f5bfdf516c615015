"""Model weights: fetched from where the registry pins them, converted once, verified on load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.core.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model folder on this machine and the digests of what is in it.

    Attributes
    ----------
    digests : mapping of str to str
        "weights" (configuration included), "tokenizer", "template".
    """

    folder: Path
    digests: Mapping[str, str]


def fetch_model(spec: ModelSpec, *, cache: Path, offline: bool) -> ModelFiles:
    """Bring the weights of `spec` to `cache` and return the folder to load them from."""
    raise NotImplementedError
