"""The parts of a loaded model, found by watching one forward pass.

Where a library keeps them differs between architectures and with every wrapper around a model:
`model.layers`, `model.model.layers`, `language_model.layers`, `transformer.h`. What runs, in which
order and on what, does not: the embedding reads the token ids, the decoder layers are the longest
list of modules that all run, the final norm comes after them, and the unembedding gives one number
for each word of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from assay.core.errors import ModelError

#: Under which names configurations say how many experts a layer has.
_EXPERT_COUNTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
#: The token that is run through the model; not 0, which is also the first position.
_PROBE = 5


@dataclass(frozen=True)
class Part:
    """A module of a model.

    Attributes
    ----------
    path : str
        Where it is, as `named_modules` says.
    module : torch.nn.Module
        The live module.
    """

    path: str
    module: Any = field(repr=False)


@dataclass(frozen=True)
class Anatomy:
    """The parts of a decoder.

    Attributes
    ----------
    embedding : Part
        From token ids to hidden states.
    layers : tuple of Part
        The decoder layers, in the order they run.
    final_norm : Part or None
        Between the last layer and the unembedding; None where there is none.
    unembedding : Part
        From hidden states to one logit for each word of the vocabulary.
    tied : bool
        Whether embedding and unembedding hold the same numbers.
    experts : tuple of (Part or None)
        For each layer the module that holds its experts, as a list or fused into one tensor.
    """

    embedding: Part
    layers: tuple[Part, ...]
    final_norm: Part | None
    unembedding: Part
    tied: bool
    experts: tuple[Part | None, ...]


@dataclass(frozen=True)
class _Call:
    """One module that has run: its first input and its output."""

    path: str
    module: Any
    read: Any
    gave: Any


def discover(model: Any) -> Anatomy:
    """Return the parts of `model` by running one token through it.

    Parameters
    ----------
    model : torch.nn.Module
        Takes `input_ids` and gives logits, alone or as the attribute `logits`; any wrapper around
        one. It is left as it was.

    Raises
    ------
    ModelError
        If no decoder layers, embedding or unembedding can be told.
    """
    import torch

    place = next(model.parameters()).device
    ids = torch.tensor([[_PROBE]], device=place)
    with torch.inference_mode(), _watched(model) as calls:
        output = model(input_ids=ids)
    logits = output if isinstance(output, torch.Tensor) else output.logits
    layers = _layers(model, calls)
    order = {call.path: n for n, call in enumerate(calls)}
    first, last = order[layers[0].path], order[layers[-1].path]
    outside = [call for call in calls if not _holds(call.path, layers)]
    unembedding = _unembedding([c for c in outside if order[c.path] > last], logits.shape[-1])
    embedding = _embedding([c for c in outside if order[c.path] < first], ids)
    between = [c for c in outside if last < order[c.path] < order[unembedding.path]]
    return Anatomy(
        embedding=embedding,
        layers=layers,
        final_norm=_norm(between),
        unembedding=unembedding,
        tied=_same_numbers(embedding.module, unembedding.module),
        experts=tuple(_experts(layer, _expert_count(model)) for layer in layers),
    )


@contextmanager
def _watched(model: Any) -> Iterator[list[_Call]]:
    """Yield the list of calls, in the order in which modules finish."""
    calls: list[_Call] = []
    handles = []
    for path, module in model.named_modules():

        def note(module: Any, read: Any, keywords: Any, gave: Any, path: str = path) -> None:
            given = [*read, *keywords.values()]
            calls.append(_Call(path, module, given[0] if given else None, gave))

        handles.append(module.register_forward_hook(note, with_kwargs=True))
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def _layers(model: Any, calls: Sequence[_Call]) -> tuple[Part, ...]:
    """Return the longest list of modules that all ran, the outermost of equal ones."""
    from torch.nn import ModuleList, Sequential

    ran = {id(call.module) for call in calls}
    found: list[Part] = []
    for path, module in model.named_modules():
        if not isinstance(module, ModuleList | Sequential):
            continue
        items = [Part(f"{path}.{name}".lstrip("."), one) for name, one in module.named_children()]
        inside = any(path.startswith(f"{layer.path}.") for layer in found)
        if all(id(item.module) in ran for item in items) and len(items) > len(found) and not inside:
            found = items
    if not found:
        raise ModelError(
            "no list of decoder layers ran in a forward pass.",
            where=type(model).__name__,
            fix="wrap a causal language model whose layers are a ModuleList.",
        )
    return tuple(found)


def _holds(path: str, layers: Sequence[Part]) -> bool:
    """Tell whether `path` is, lies in, or contains one of `layers`."""
    return any(
        path == layer.path
        or path.startswith(f"{layer.path}.")
        or layer.path.startswith(f"{path}." if path else "")
        for layer in layers
    )


def _unembedding(after: Sequence[_Call], vocabulary: int) -> Part:
    wide = [call for call in after if getattr(call.gave, "shape", (0,))[-1] == vocabulary]
    if not wide:
        raise ModelError(
            "no module gives the logits.", fix="wrap a model with a language-modelling head."
        )
    # A wrapped head (an adapter, a quantised layer) runs its parts first and itself last.
    return Part(wide[-1].path, wide[-1].module)


def _embedding(before: Sequence[_Call], ids: Any) -> Part:
    for call in before:
        read = call.read
        if (
            getattr(read, "shape", None) == ids.shape
            and not read.is_floating_point()
            and bool((read.to(ids.device) == ids).all())
        ):
            return Part(call.path, call.module)
    raise ModelError("no module reads the token ids.", fix="wrap a causal language model.")


def _norm(between: Sequence[_Call]) -> Part | None:
    norms = [call for call in between if "norm" in type(call.module).__name__.lower()]
    return Part(norms[-1].path, norms[-1].module) if norms else None


def _same_numbers(embedding: Any, unembedding: Any) -> bool:
    import torch

    ours, theirs = getattr(embedding, "weight", None), getattr(unembedding, "weight", None)
    if ours is None or theirs is None or ours.shape != theirs.shape:
        return False
    if ours.data_ptr() == theirs.data_ptr():
        return True
    with torch.inference_mode():  # a head in float32 is a copy of a tied embedding
        same: bool = torch.equal(ours.float(), theirs.to(ours.device).float())
    return same


def _expert_count(model: Any) -> int | None:
    config = getattr(model, "config", None)
    text = config.get_text_config(decoder=True) if config is not None else None
    counts = [getattr(text, name, None) for name in _EXPERT_COUNTS]
    return next((count for count in counts if isinstance(count, int) and count > 1), None)


def _experts(layer: Part, count: int | None) -> Part | None:
    """Return the outermost module of `layer` that is a list of `count` or a tensor over them."""
    from torch.nn import ModuleList

    if count is None:
        return None
    for name, module in layer.module.named_modules():
        listed = isinstance(module, ModuleList) and len(module) == count
        fused = any(p.ndim == 3 and len(p) == count for p in module.parameters(recurse=False))
        if listed or fused:
            return Part(f"{layer.path}.{name}", module)
    return None
