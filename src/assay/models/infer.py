"""What a loaded model says about itself: a spec for models that no registry knows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast, get_args

from assay.core.errors import ModelError
from assay.core.pins import HubPin, PathPin
from assay.core.spec import DType, ModelSpec, Quantisation, Trait
from assay.models.anatomy import Anatomy, discover
from assay.models.render import default_template, template_variables

#: The source of a model that was made in memory.
IN_MEMORY = "in memory"
_COMMIT = re.compile(r"[0-9a-f]{40}")


def infer_spec(model: Any, tokenizer: Any = None, *, key: str | None = None) -> ModelSpec:
    """Return the spec of a loaded transformers model, read off its configuration and modules.

    Parameters
    ----------
    model : torch.nn.Module
        A causal language model, or any wrapper around one.
    tokenizer : tokenizer or processor, optional
        Its chat template decides between `chat: template` and `chat: plain`.
    key : str, optional
        The model's name; made of the name it was loaded by if None.

    Returns
    -------
    ModelSpec
        `source` is the hub commit or the folder it was loaded from, or "in memory"; the licence is
        not written in a model and is "unknown".
    """
    from assay.models.backends.borrowed import causal_model

    inner = causal_model(model)
    config = inner.config
    template = default_template(tokenizer)
    name = str(getattr(config, "_name_or_path", "") or "")
    family = config.get_text_config(decoder=True).model_type
    quantisation = _quantisation(config)
    return ModelSpec(
        key=key or _key(name or family),
        family=family,
        source=_source(name, getattr(config, "_commit_hash", None)),
        licence="unknown",
        chat="template" if template else "plain",
        dtype=_dtype(inner),
        quantisation=quantisation,
        traits=traits(config, discover(inner), template),
    )


def traits(config: Any, anatomy: Anatomy, template: str | None) -> tuple[Trait, ...]:
    """Return the traits of a live model: its configuration, its modules and its chat template.

    Parameters
    ----------
    config : transformers.PretrainedConfig
        Of the whole model.
    template : str or None
        Its chat template.
    """
    text = config.get_text_config(decoder=True)
    words = template_variables(template) if template else frozenset()
    thinks = bool(words & {"enable_thinking", "thinking"}) or "<think>" in (template or "")
    found: dict[Trait, bool] = {
        "latent_attention": getattr(text, "kv_lora_rank", None) is not None,
        "mixture_of_experts": any(part is not None for part in anatomy.experts),
        "reasoning": thinks,
        "sliding_window": _slides(text),
        "tied_embeddings": anatomy.tied,
        "tool_calls": "tools" in words,
    }
    return tuple(trait for trait, present in found.items() if present)


def _slides(text: Any) -> bool:
    kinds = getattr(text, "layer_types", None)
    if kinds:
        return "sliding_attention" in kinds
    used = getattr(text, "use_sliding_window", True)
    return bool(used) and getattr(text, "sliding_window", None) is not None


def _key(name: str) -> str:
    """Return the last part of a path or repository as a registry key."""
    last = name.rstrip("/").rpartition("/")[2].lower()
    return re.sub(r"[^a-z0-9._-]+", "-", last).strip("._-") or "model"


def _source(name: str, commit: str | None) -> HubPin | PathPin:
    if commit and _COMMIT.fullmatch(commit) and not Path(name).exists():
        return HubPin(repo=name, revision=commit)
    return PathPin(path=name or IN_MEMORY)


def _dtype(model: Any) -> DType | None:
    name = str(model.dtype).removeprefix("torch.")
    return cast(DType, name) if name in get_args(DType) else None


def _quantisation(config: Any) -> Quantisation:
    settings = getattr(config, "quantization_config", None)
    if settings is None:
        return "none"
    values = settings if isinstance(settings, dict) else settings.to_dict()
    method = values.get("quant_method", "")
    name = str(getattr(method, "value", method))
    if name == "bitsandbytes":
        return "bnb-4bit" if values.get("load_in_4bit") else "bnb-8bit"
    if name not in get_args(Quantisation):
        raise ModelError(
            f"the model is quantised by {name!r}, which is not known here.",
            fix=f"use one of {', '.join(get_args(Quantisation))}.",
        )
    return cast(Quantisation, name)
