"""The two ways to a model: loaded by name or spec on a backend, or wrapped where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assay.core.cache import cache_root
from assay.core.capability import Capability, capabilities, provided_by, require
from assay.core.errors import ModelError
from assay.core.spec import ModelSpec
from assay.core.validation import unknown
from assay.models.files import positions
from assay.models.functions import FunctionEngine
from assay.models.infer import infer_spec
from assay.models.planned import PlannedEngine
from assay.models.render import Renderer
from assay.models.runtime import RuntimeConfig
from assay.models.text import TextEngine, TextModel

#: The backend of a user's own functions.
ENGINE = "engine"


def compose(
    spec: ModelSpec,
    backend: str = "auto",
    runtime: RuntimeConfig | None = None,
    want: Iterable[Capability | str] = (),
) -> TextModel:
    """Return the model of `spec`, run by `backend`.

    Parameters
    ----------
    backend : str
        "hf_local"; "engine" for the functions of `runtime`; "auto" takes "engine" where functions
        are given, else "hf_local".
    want : iterable of Capability
        What will be asked of the model. What the backend cannot give is refused before anything
        is fetched or loaded.

    Raises
    ------
    CapabilityError
        If the backend cannot give what is wanted.
    ConfigError
        If there is no such backend.
    ModelError
        If functions are given to a backend that loads a model, or the model cannot be loaded.
    """
    runtime = runtime or RuntimeConfig()
    chosen = _backend(backend, runtime, spec.key)
    given = runtime.engine_capabilities if chosen == ENGINE else provided_by(chosen)
    require(capabilities(want), given, consumer="load", model=spec.key)
    return TextModel(spec, given, _BACKENDS[chosen](spec, runtime))


def wrap(
    model: Any,
    tokenizer: Any,
    *,
    key: str | None = None,
    want: Iterable[Capability | str] = (),
    token_budget: int = 2048,
) -> TextModel:
    """Return a model that is already loaded as one that can be asked in words.

    Parameters
    ----------
    model : torch.nn.Module
        A transformers causal language model, or any wrapper around one. It is in eval mode, with
        float32 logits, only while it is asked.
    tokenizer : tokenizer or processor
        The model's own.
    key : str, optional
        The model's name; taken from where it was loaded if None.
    token_budget : int
        Most padded tokens that are computed together.

    Raises
    ------
    ModelError
        If there is no transformers model with a head in `model`, or no tokenizer.
    """
    from assay.models.backends.borrowed import Borrowed, causal_model

    words = getattr(tokenizer, "tokenizer", tokenizer)
    if not callable(words):
        raise ModelError("wrap needs the model's tokenizer.", fix="wrap(model, tokenizer).")
    inner = causal_model(model)
    spec = infer_spec(model, words, key=key)
    require(capabilities(want), provided_by("hf_local"), consumer="wrap", model=spec.key)
    limit = positions(inner.config.get_text_config(decoder=True).to_dict())
    runtime = Borrowed(inner, limit=limit)
    renderer = Renderer.of(words, spec, limit=limit)
    engine = PlannedEngine(runtime, renderer, token_budget=token_budget, anatomy=_parts_of(inner))
    return TextModel(spec, runtime.capabilities, engine)


def _backend(named: str, runtime: RuntimeConfig, model: str) -> str:
    functions = bool(runtime.engine_capabilities)
    chosen = named if named != "auto" else ENGINE if functions else "hf_local"
    if chosen not in _BACKENDS:
        raise unknown("backend", chosen, ["auto", *_BACKENDS], where=model)
    if functions != (chosen == ENGINE):
        raise ModelError(
            f"the backend is {chosen} and functions are {'' if functions else 'not '}given.",
            where=model,
            fix="give functions to the backend 'engine' and to no other.",
        )
    return chosen


def _hf_local(spec: ModelSpec, runtime: RuntimeConfig) -> TextEngine:
    from assay.models.fetch import fetch_model

    folder = fetch_model(spec, cache=cache_root(), offline=runtime.offline).folder
    renderer = Renderer(folder, spec)

    from assay.models.backends.hf_local import HFLocal

    loaded = HFLocal.load(
        folder, spec, dtype=runtime.dtype, device=runtime.device, threads=runtime.threads
    )
    return PlannedEngine(
        loaded, renderer, token_budget=runtime.token_budget, anatomy=_parts_of(loaded.module)
    )


def _parts_of(model: Any) -> Callable[[], Any]:
    from assay.models.anatomy import discover

    return lambda: discover(model)


#: What brings up each backend; `compose` has refused what it cannot give before it is called.
_BACKENDS: dict[str, Callable[[ModelSpec, RuntimeConfig], TextEngine]] = {
    "hf_local": _hf_local,
    ENGINE: FunctionEngine,
}
