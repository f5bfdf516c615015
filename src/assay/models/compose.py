"""The two ways to a model: loaded by name or spec on a backend, or wrapped where it is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from assay.core.cache import cache_root
from assay.core.capability import Capability, capabilities, provided_by, require
from assay.core.errors import ModelError
from assay.core.model import Batch, Request
from assay.core.spec import ModelSpec
from assay.core.validation import unknown
from assay.models.files import positions
from assay.models.functions import FunctionEngine
from assay.models.infer import infer_spec
from assay.models.planned import PlannedEngine
from assay.models.render import Renderer
from assay.models.runtime import RuntimeConfig
from assay.models.text import TextModel
from assay.models.windows import plan_windows
from assay.models.words import WordRenderer, plan_words

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
        "hf_local", "vllm_offline"; "api" for a model behind a server; "engine" for the functions of
        `runtime`. "auto" takes "engine" where functions are given, "api" where the spec names a
        server, else "hf_local".
    want : iterable of Capability
        What will be asked of the model. What the backend cannot give is refused before anything
        is fetched or loaded. Log-probabilities of a server are put to the proof if they are wanted,
        and not given otherwise.

    Raises
    ------
    CapabilityError
        If the backend cannot give what is wanted.
    ConfigError
        If there is no such backend.
    ModelError
        If functions are given to a backend that loads a model, a server's model to one that loads
        weights or the reverse, or the model cannot be loaded.
    """
    runtime = runtime or RuntimeConfig()
    chosen, wanted = _backend(backend, runtime, spec), capabilities(want)
    given = runtime.engine_capabilities if chosen == ENGINE else provided_by(chosen)
    require(wanted, given, consumer="load", model=spec.key)
    return _BACKENDS[chosen](spec, runtime, wanted)


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


def _backend(named: str, runtime: RuntimeConfig, spec: ModelSpec) -> str:
    functions, model = bool(runtime.engine_capabilities), spec.key
    chosen = named
    if named == "auto":
        chosen = ENGINE if functions else "api" if spec.served else "hf_local"
    if chosen not in _BACKENDS:
        raise unknown("backend", chosen, ["auto", *_BACKENDS], where=model)
    if functions != (chosen == ENGINE):
        raise ModelError(
            f"the backend is {chosen} and functions are {'' if functions else 'not '}given.",
            where=model,
            fix="give functions to the backend 'engine' and to no other.",
        )
    if chosen != ENGINE and (chosen == "api") != (spec.served is not None):
        raise ModelError(
            f"the backend is {chosen} and the model is {'' if spec.served else 'not '}behind a "
            "server.",
            where=model,
            fix="use 'api' for a source of kind api (or load's base_url), and for no other.",
        )
    return chosen


def _engine(spec: ModelSpec, runtime: RuntimeConfig, want: frozenset[Capability]) -> TextModel:
    return TextModel(spec, runtime.engine_capabilities, FunctionEngine(spec, runtime))


def _fetched(spec: ModelSpec, runtime: RuntimeConfig) -> tuple[Path, Renderer]:
    from assay.models.fetch import fetch_model

    folder = fetch_model(spec, cache=cache_root(), offline=runtime.offline).folder
    return folder, Renderer(folder, spec)


def _hf_local(spec: ModelSpec, runtime: RuntimeConfig, want: frozenset[Capability]) -> TextModel:
    folder, renderer = _fetched(spec, runtime)

    from assay.models.backends.hf_local import HFLocal

    loaded = HFLocal.load(
        folder, spec, dtype=runtime.dtype, device=runtime.device, threads=runtime.threads
    )
    engine = PlannedEngine(
        loaded, renderer, token_budget=runtime.token_budget, anatomy=_parts_of(loaded.module)
    )
    return TextModel(spec, loaded.capabilities, engine)


def _vllm(spec: ModelSpec, runtime: RuntimeConfig, want: frozenset[Capability]) -> TextModel:
    if find_spec("vllm") is None:
        _not_installed("vllm_offline", "vllm", "it needs an environment of its own")
    folder, renderer = _fetched(spec, runtime)

    from assay.models.backends.vllm_engine import Settings
    from assay.models.backends.vllm_offline import VLLMOffline

    settings = Settings(
        folder,
        spec,
        spec.dtype or runtime.dtype,
        runtime.device,
        runtime.threads or os.cpu_count() or 1,
        runtime.tensor_parallel,
        runtime.batch_invariant,
    )
    loaded = VLLMOffline.load(settings)
    engine = PlannedEngine(
        loaded,
        renderer,
        token_budget=runtime.token_budget,
        anatomy=_elsewhere(spec, "in an engine's process"),
        plan=plan_windows,
        close=loaded.close,
    )
    return TextModel(spec, loaded.capabilities, engine)


def _api(spec: ModelSpec, runtime: RuntimeConfig, want: frozenset[Capability]) -> TextModel:
    try:
        from assay.models.backends.api import ApiModel
    except ModuleNotFoundError as error:
        _not_installed("api", str(error.name), "pip install 'assay[api]'")
    passing = tempfile.TemporaryDirectory(prefix="assay-replies-")
    replies = Path(runtime.replies or Path(passing.name, "replies.jsonl"))
    served = ApiModel.connect(spec, replies, needed=want, consumer="load")
    engine = PlannedEngine(
        served,
        WordRenderer(spec),
        token_budget=0,
        anatomy=_elsewhere(spec, "behind a server"),
        plan=_in_words,
        close=passing.cleanup,
    )
    return TextModel(spec, served.capabilities, engine)


def _in_words(requests: Sequence[Request], *, token_budget: int, new_tokens: int) -> list[Batch]:
    """Plan for a server, which has its own budget."""
    return plan_words(requests)


def _not_installed(backend: str, package: str, fix: str) -> NoReturn:
    raise ModelError(f"backend {backend} needs the package {package}.", fix=f"{fix} (docs/how-to).")


def _elsewhere(spec: ModelSpec, where: str) -> Callable[[], NoReturn]:
    def refuse() -> NoReturn:
        raise ModelError(
            f"the model runs {where}, where its parts cannot be seen.",
            where=spec.key,
            fix="load it with the backend hf_local, or wrap the loaded model.",
        )

    return refuse


def _parts_of(model: Any) -> Callable[[], Any]:
    from assay.models.anatomy import discover

    return lambda: discover(model)


#: What brings up each backend; `compose` has refused what it cannot give before it is called.
_BACKENDS: dict[str, Callable[[ModelSpec, RuntimeConfig, frozenset[Capability]], TextModel]] = {
    "hf_local": _hf_local,
    "vllm_offline": _vllm,
    "api": _api,
    ENGINE: _engine,
}
